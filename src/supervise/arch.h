/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between x86-64 and aarch64: registers, the vDSO stubs, trapped instructions. */
#ifndef SUPERVISE_ARCH_H
#define SUPERVISE_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/attr.h"

struct call;

struct regs {
	struct user_regs_struct user;
};

/* At any ptrace stop. 0 or -1 with errno (ESRCH: it was killed meanwhile). */
int arch_regs_read(pid_t tid, struct regs *ret_regs);
int arch_regs_write(pid_t tid, const struct regs *regs);

/* Of a clone call: the address that CLONE_CHILD_CLEARTID names (the argument order differs). */
uint64_t arch_clone_child_tid(const struct call *call);

/* At a seccomp stop: the call, where nothing else of the registers is needed. 0 or -1 with errno.
 */
int arch_call_read(pid_t tid, struct call *ret_call);
/* As arch_call_skip, where they were not read. */
int arch_call_answer(pid_t tid, int64_t result);
/* At a seccomp stop: the call. */
void arch_call_get(const struct regs *regs, struct call *ret_call);
/* At a seccomp stop: the kernel will skip the call and the guest get `result`. 0 or -1 with errno.
 */
int arch_call_skip(pid_t tid, struct regs *regs, int64_t result);
/* At a seccomp stop: other number or argument; write the registers afterwards. */
int arch_call_set_nr(pid_t tid, struct regs *regs, int nr);
void arch_call_set_arg(struct regs *regs, int i, uint64_t value);
/* At an exit stop. */
int64_t arch_result_get(const struct regs *regs);
void arch_result_set(struct regs *regs, int64_t result);
/*
 * At a call's stop (seccomp, or exit after an injection): makes the instruction run again from the
 * start when the task goes on. `restart`: what the call would answer if a signal came first,
 * ERESTARTSYS or ERESTARTNOHAND; 0 when it was not going to sleep. arm64 resumes the task for that,
 * up to a stop before any signal is taken. 0 or -1 with errno.
 */
int arch_call_reissue(pid_t tid, struct regs *regs, const struct call *call, int restart);
/*
 * At a signal-delivery stop after arch_call_reissue and before the instruction ran: makes it look
 * as if the kernel had been interrupted in it, so that the kernel itself does SA_RESTART or EINTR.
 * `restart` is ERESTARTSYS or ERESTARTNOHAND. 1: done; 0: the task stands somewhere else.
 */
int arch_call_interrupt(struct regs *regs, const struct call *call, uint64_t at_ip, int restart);

/* At a stop between two instructions: the kernel has just ended a call of the guest. */
bool arch_is_in_call(const struct regs *regs);
uint64_t arch_ip(const struct regs *regs);
void arch_set_ip(struct regs *regs, uint64_t ip);
uint64_t arch_sp(const struct regs *regs);
/* Which of the words that struct regs consists of holds the condition flags. */
extern const unsigned arch_flags_word;
/* Length of the system call instruction: it stands right before the ip of a call's stop. */
extern const unsigned arch_insn_length;
/* At a seccomp stop: whether the number may be exchanged. Not where the kernel emulates a call
 * page. */
bool arch_can_inject(const struct regs *regs);
/* The instruction at the beginning of the code is a system call. */
bool arch_is_call(const unsigned char *code, size_t len);
/*
 * ... or one that reads and writes memory at once, as locks are taken and left by. Where they are
 * not single instructions (arm64's exclusive pairs, which no single step gets through), none is.
 */
bool arch_is_atomic(const unsigned char *code, size_t len);
extern const bool arch_has_atomics;
/* For an injected call: registers that execute the system call instruction at `ip`. */
void arch_inject(struct regs *regs, uint64_t ip, int nr, const uint64_t arg[6]);

/* Shared libraries are mapped from here on (addresses are not randomized), a program's own code
 * below. */
#if defined(__x86_64__)
#define ARCH_LIBRARIES 0x7f0000000000ull
#else
#define ARCH_LIBRARIES 0xffff00000000ull
#endif

/* uname -m */
#if defined(__x86_64__)
#define ARCH_MACHINE "x86_64"
#else
#define ARCH_MACHINE "aarch64"
#endif

/* AUDIT_ARCH_... for the seccomp filter, and the highest number that is not a foreign ABI. */
extern const uint32_t arch_audit;
extern const uint32_t arch_nr_limit;

/*
 * Fixed address of a private page in every address space (mapped when first needed: inject.h): a
 * u32 window of clock reads at offset 0; from ARCH_SCRATCH on it is ours for arguments of injected
 * calls.
 */
#if defined(__x86_64__)
#define ARCH_COUNTER_PAGE 0x200000000000ull
#else
#define ARCH_COUNTER_PAGE 0x2000000000ull /* some arm64 kernels have addresses of 39 bits only */
#endif
#define ARCH_SCRATCH (ARCH_COUNTER_PAGE + 64)

/*
 * The stubs that replace the vDSO's functions: position-independent code copied over the function
 * entries[0].symbol (the largest), which is also its own entry at offset 0. See vdso.c.
 */
struct arch_vdso_blob {
	const unsigned char *code;
	size_t size;
	size_t data;   /* offset of 6 x u64: realtime sec, nsec, monotonic sec, nsec, realtime usec,
			* monotonic in nsec */
	size_t ready;  /* offset of a u32: not 0 once the counter page is mapped */
	size_t gadget; /* offset of a system call instruction followed by a breakpoint */
	size_t start;  /* offset of code to run before a new program's own; 0: there is none */
	size_t start_data; /* offset of 3 x u64: what to unmap, its length, where to go then */
	struct arch_vdso_entry {
		const char *symbol; /* as in the kernel's vDSO; a kernel may lack some */
		size_t offset;
	} entries[12];
	size_t entry_count;
};
const struct arch_vdso_blob *arch_vdso_blob(void);
/* Machine code at `from` that jumps to `to`; returns its length (at most 16). */
size_t arch_vdso_jump(unsigned char *out, uint64_t from, uint64_t to);

/*
 * At a SIGSEGV stop: an instruction that we made trap (rdtsc, rdtscp, cpuid)? Then emulates it from
 * `tsc` and returns 1 with regs changed; 0: the signal is the guest's own.
 */
int arch_trap_emulate(pid_t tid, struct regs *regs, uint64_t tsc);
/* In the guest child before exec: makes counters trap. 0 or -1 with errno. */
int arch_trap_setup(void);
/*
 * What exec takes back of it: calls that every new program has to make before its first
 * instruction. Returns how many.
 */
enum { ARCH_EXEC_CALLS = 2 };
struct arch_call {
	int nr;
	uint64_t arg[6];
};
size_t arch_exec_calls(struct arch_call ret_calls[ARCH_EXEC_CALLS]);
/*
 * What one instruction reads and writes when it runs with these registers, which stand before it.
 * How many; -1: not known, and then it may write anything.
 */
enum { ARCH_ACCESSES = 4, ARCH_INSN_MAX = 15 };
struct arch_access {
	uint64_t addr;
	uint32_t len;
	bool store;
};
int arch_insn_accesses(const struct regs *regs, const unsigned char *code, size_t len,
	struct arch_access ret[ARCH_ACCESSES]);
/*
 * Instructions that no setting makes trap (hidden/hidden.h). Whether this machine has any; where in
 * the code, at or after `from`, bytes are that may be one (`len`: nowhere); the length of the
 * instruction there (0: not known); whether it is one, and draws a random number; and its effects,
 * of which the random number is one. Registers stand before it.
 */
bool arch_hidden_any(void);
extern const char arch_hidden_names[]; /* "A, B or C" */
size_t arch_hidden_find(const unsigned char *code, size_t len, size_t from);
unsigned arch_insn_length_of(const unsigned char *code, size_t len);
bool arch_hidden_is(const unsigned char *code, size_t len);
bool arch_hidden_is_random(const unsigned char *code, size_t len);
void arch_hidden_emulate(struct regs *regs, const unsigned char *code, size_t len, uint64_t random);
/* What takes the place of one: no longer than any of them; and how far behind its own address a
 * task stands when it has trapped. */
enum { ARCH_BREAKPOINT_MAX = 4 };
extern const unsigned char arch_breakpoint[ARCH_BREAKPOINT_MAX];
extern const unsigned arch_breakpoint_len, arch_breakpoint_past;
/*
 * Instructions that trap, or that a hypervisor makes slow, in the dynamic loader, which executes
 * some dozens of them in every new program: rdtsc and cpuid. A jump to a stub of ours takes the
 * place of one and of a few next to it, which the stub does as well (hidden/inplace.h).
 */
enum { ARCH_COVER_MAX = 32, ARCH_STUB_MAX = 96, ARCH_PLACES_MAX = 96, ARCH_TABLES_MAX = 256 };
struct arch_place {
	uint64_t address; /* the file's own */
	uint8_t len;	  /* of all that the jump takes the place of */
	uint8_t before;	  /* the instruction itself stands so many bytes behind the start */
	bool is_counter;  /* else cpuid */
	unsigned char code[ARCH_COVER_MAX];
};
struct arch_places {
	struct arch_place at[ARCH_PLACES_MAX];
	size_t count;
	/* Of the function that was judged last: it jumps by an address that it computes, maybe from
	 * a table at one of these. */
	bool jumps_by_table;
	size_t table_count;
	uint64_t table[ARCH_TABLES_MAX];
};
struct arch_function {
	const unsigned char *code;
	size_t len;
	uint64_t address;
};
/* Where in the code, at or after `from`, bytes are that may be one (`len`: nowhere, or never here).
 */
size_t arch_places_find(const unsigned char *code, size_t len, size_t from);
/* Adds the places of one function: those that none of its own branches enters in the middle. */
void arch_places_judge(const struct arch_function *f, struct arch_places *p);
/* The 32-bit distance at code + at would, from what stands before it, be that of a branch, or of an
 * address that is computed. */
bool arch_places_leads(const unsigned char *code, size_t at);
/* Addresses: of a place, of its stub, of the counter as 8 bytes, and of what arch_places_cpuid
 * made.
 */
struct arch_stub_at {
	uint64_t place, stub, counter, cpuid;
};
/* Its length; 0: something is out of reach. */
size_t arch_place_stub(const struct arch_place *place, const struct arch_stub_at *where,
	unsigned char out[ARCH_STUB_MAX]);
/* place->len bytes to put there; false: the stub is out of reach. */
bool arch_place_jump(const struct arch_place *place, const struct arch_stub_at *where,
	unsigned char out[ARCH_COVER_MAX]);
/* Code and table that stubs of cpuid call: how long; 0: no room. */
size_t arch_places_cpuid(unsigned char *out, size_t room);
/* How to get over it without the guest seeing that. */
enum arch_step {
	ARCH_STEP_PLAIN, /* a single step */
	ARCH_STEP_CALL,	 /* a system call: to its stops */
	ARCH_STEP_NEVER, /* it would see the step, or never end under it */
};
enum arch_step arch_insn_step(const unsigned char *code, size_t len);
/* What two sets of registers of one task are compared by: without what a tracer's stop changes. */
void arch_regs_clean(struct regs *regs);
/* Registers beyond struct regs (floating point, vectors), as bytes: how many; -1 with errno. */
enum { ARCH_VECTORS_MAX = 16384 };
ssize_t arch_vectors_read(pid_t tid, unsigned char ret_bytes[ARCH_VECTORS_MAX]);

/* In the supervisor, before the guest starts: tells what this machine cannot make trap. */
void arch_report_assumptions(void);

#endif
