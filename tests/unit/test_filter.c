/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's seccomp programs answer every number as wire/syscalls.def says, run by a small BPF
 * interpreter here and, once, by the kernel. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervise/arch.h"
#include "supervise/engine/call.h"
#include "supervise/engine/filter.h"
#include "wire/sysnr.h"

static const struct row {
	const char *name;
	int nr;
	enum verdict verdict;
} rows[] = {
#define SYSCALL(name, verdict, enter, leave, note) {#name, NR_##name, VERDICT_##verdict},
#include "wire/syscalls.def"
#undef SYSCALL
};

enum {
	ANSWER_ENOSYS = SECCOMP_RET_ERRNO | ENOSYS,
	ANSWER_EPERM = SECCOMP_RET_ERRNO | EPERM,
	ANSWER_BROKEN = 1, /* no seccomp action */
};

/* What one run of a program did. */
struct outcome {
	uint32_t answer;
	int steps;
	bool read_argument;
};

static bool jump_taken(uint16_t code, uint32_t acc, uint32_t k)
{
	switch (BPF_OP(code)) {
	case BPF_JEQ:
		return acc == k;
	case BPF_JGE:
		return acc >= k;
	case BPF_JGT:
		return acc > k;
	case BPF_JSET:
		return (acc & k) != 0;
	default:
		fail_msg("jump %#x is not one that the filter uses", code);
		return false;
	}
}

static struct outcome run(
	const struct sock_filter *prog, size_t length, const struct seccomp_data *data)
{
	struct outcome o = {.answer = ANSWER_BROKEN};
	uint32_t acc = 0;
	for (size_t pc = 0; pc < length; pc++) {
		const struct sock_filter *i = &prog[pc];
		o.steps++;
		switch (BPF_CLASS(i->code)) {
		case BPF_LD:
			assert_int_equal(i->code, BPF_LD | BPF_W | BPF_ABS);
			assert_true(i->k + sizeof(acc) <= sizeof(*data) && i->k % sizeof(acc) == 0);
			memcpy(&acc, (const char *)data + i->k, sizeof(acc));
			o.read_argument |= i->k != offsetof(struct seccomp_data, nr) &&
					   i->k != offsetof(struct seccomp_data, arch);
			break;
		case BPF_JMP:
			if (BPF_OP(i->code) == BPF_JA)
				pc += i->k;
			else
				pc += jump_taken(i->code, acc, i->k) ? i->jt : i->jf;
			break;
		case BPF_RET:
			assert_int_equal(i->code, BPF_RET | BPF_K);
			o.answer = i->k;
			return o;
		default:
			fail_msg("instruction %#x is not one that the filter uses", i->code);
		}
	}
	fail_msg("the program has no end");
	return o;
}

struct base {
	struct sock_filter prog[FILTER_ROOM];
	size_t length;
};

static struct base base_program(bool strict)
{
	struct base b = {.length = 0};
	b.length = filter_build(strict, b.prog, FILTER_ROOM);
	assert_true(b.length > 0 && b.length <= FILTER_ROOM);
	return b;
}

static struct outcome ask(const struct base *b, uint32_t nr, int arg, uint64_t value)
{
	struct seccomp_data data = {.nr = (int)nr, .arch = arch_audit};
	if (arg >= 0)
		data.args[arg] = value;
	return run(b->prog, b->length, &data);
}

/* A call that stops although others of its number are native. */
static uint32_t ask_stopping(const struct base *b, int nr)
{
	if (nr == NR_prlimit64) /* one that is only asked for is native */
		return ask(b, (uint32_t)nr, 2, 1).answer;
	if (nr == NR_mprotect)
		return ask(b, (uint32_t)nr, 2, PROT_EXEC).answer;
	if (nr == NR_mmap)
		return ask(b, (uint32_t)nr, 3, MAP_SHARED).answer;
	if (nr == NR_clone)
		return ask(b, (uint32_t)nr, 0, CLONE_FILES).answer;
	if (nr == NR_close_range)
		return ask(b, (uint32_t)nr, 2, CLOSE_RANGE_UNSHARE).answer;
	return ask(b, (uint32_t)nr, -1, 0).answer;
}

static uint32_t expected(enum verdict verdict, bool strict)
{
	static const uint32_t by_verdict[VERDICT_COUNT] = {
		[VERDICT_ALLOW] = SECCOMP_RET_ALLOW,
		[VERDICT_STOP] = FILTER_STOP,
		[VERDICT_ENOSYS] = ANSWER_ENOSYS,
		[VERDICT_EPERM] = ANSWER_EPERM,
	};
	if (verdict == VERDICT_TIGHT)
		return strict ? FILTER_STOP : SECCOMP_RET_ALLOW;
	return by_verdict[verdict];
}

static bool is_decided(uint32_t nr)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].nr == (int)nr)
			return true;
	return false;
}

static void every_row_gets_its_verdict(void **state)
{
	(void)state;
	for (int strict = 0; strict < 2; strict++) {
		struct base b = base_program(strict);
		int looked_at = 0;
		for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
			if (rows[i].nr < 0)
				continue;
			uint32_t answer = ask_stopping(&b, rows[i].nr);
			if (answer != expected(rows[i].verdict, strict))
				fail_msg("%s answers %#x", rows[i].name, answer);
			looked_at++;
		}
		assert_true(looked_at > 300);
	}
}

static void number_that_nobody_decided_stops(void **state)
{
	(void)state;
	struct base b = base_program(false);
	int looked_at = 0;
	for (uint32_t nr = 0; nr < 2000; nr++) {
		if (is_decided(nr))
			continue;
		assert_int_equal(ask(&b, nr, -1, 0).answer, FILTER_STOP);
		looked_at++;
	}
	assert_true(looked_at > 1000);
	assert_int_equal(ask(&b, arch_nr_limit, -1, 0).answer, FILTER_STOP);
}

static void number_of_a_foreign_abi_fails(void **state)
{
	(void)state;
	struct base b = base_program(false);
	assert_int_equal(ask(&b, arch_nr_limit + 1, -1, 0).answer, ANSWER_ENOSYS);
	assert_int_equal(ask(&b, UINT32_MAX, -1, 0).answer, ANSWER_ENOSYS);
#ifdef __x86_64__
	enum { X32 = 0x40000000 };
	for (uint32_t nr = 0; nr < 600; nr++)
		assert_int_equal(ask(&b, X32 + nr, -1, 0).answer, ANSWER_ENOSYS);
#endif
}

static void call_of_a_foreign_architecture_fails(void **state)
{
	(void)state;
	static const uint32_t foreign[] = {
		AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_RISCV64, AUDIT_ARCH_PPC64LE, 0};
	struct base b = base_program(false);
	for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
		for (int nr = 0; nr < 600; nr++) {
			struct seccomp_data data = {.nr = nr, .arch = foreign[i]};
			assert_int_equal(run(b.prog, b.length, &data).answer, ANSWER_ENOSYS);
		}
}

static void clone_flags_that_escape_are_refused(void **state)
{
	(void)state;
	static const uint32_t refused[] = {CLONE_UNTRACED, CLONE_NEWNS, CLONE_NEWCGROUP,
		CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET};
	enum {
		FORK = SIGCHLD,
		VFORK = CLONE_VM | CLONE_VFORK | SIGCHLD,
		THREAD = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			 CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
	};
	struct base b = base_program(false);
	uint32_t native = ask(&b, NR_clone, 0, FORK).answer;
	assert_int_not_equal(native & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO);
	assert_int_equal(ask(&b, NR_clone, 0, VFORK).answer, native);
	assert_int_equal(ask(&b, NR_clone, 0, THREAD).answer, native);
	assert_int_equal(ask(&b, NR_clone, 0, FORK | CLONE_FILES).answer, FILTER_STOP);
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		assert_int_equal(ask(&b, NR_clone, 0, refused[i] | SIGCHLD).answer, ANSWER_EPERM);
		assert_int_equal(ask(&b, NR_clone, 0, refused[i] | THREAD).answer, ANSWER_EPERM);
	}
}

static void memory_calls_do_not_tell_of_the_host(void **state)
{
	(void)state;
	struct base b = base_program(false);
	uint64_t plain = MAP_PRIVATE | MAP_ANONYMOUS;
	assert_int_equal(ask(&b, NR_mmap, 3, plain).answer, SECCOMP_RET_ALLOW);
	assert_int_equal(ask(&b, NR_mmap, 3, MAP_SHARED).answer, FILTER_STOP);
	assert_int_equal(ask(&b, NR_mmap, 3, MAP_SHARED_VALIDATE).answer, FILTER_STOP);
	assert_int_equal(
		ask(&b, NR_mmap, 3, plain | MAP_HUGETLB).answer, SECCOMP_RET_ERRNO | ENOMEM);
	assert_int_equal(ask(&b, NR_madvise, 2, MADV_DONTNEED).answer, SECCOMP_RET_ALLOW);
	assert_int_equal(ask(&b, NR_madvise, 2, MADV_FREE).answer, SECCOMP_RET_ERRNO | EINVAL);
	assert_int_equal(ask(&b, NR_madvise, 2, MADV_HUGEPAGE).answer, SECCOMP_RET_ERRNO);
}

/* The kernel keeps only such answers in its bitmap; others cost a run of the program each time. */
static void allowed_calls_read_no_argument(void **state)
{
	(void)state;
	struct base b = base_program(false);
	int reading = 0;
	for (uint32_t nr = 0; nr < 600; nr++) {
		struct outcome o = ask(&b, nr, -1, 0);
		if (!o.read_argument)
			continue;
		assert_true(nr == NR_clone || nr == NR_mmap || nr == NR_mprotect ||
			    nr == NR_madvise || nr == NR_memfd_create || nr == NR_pidfd_open ||
			    nr == NR_fcntl || nr == NR_prlimit64 || nr == NR_close_range ||
			    (int)nr == NR_arch_prctl);
		reading++;
	}
	assert_int_equal(reading, NR_arch_prctl < 0 ? 9 : 10);
}

static void what_becomes_executable_stops(void **state)
{
	(void)state;
	struct base b = base_program(false);
	assert_int_equal(ask(&b, NR_mmap, 2, PROT_READ | PROT_EXEC).answer, FILTER_STOP);
	assert_int_equal(ask(&b, NR_mmap, 2, PROT_READ | PROT_WRITE).answer, SECCOMP_RET_ALLOW);
	assert_int_equal(ask(&b, NR_mprotect, 2, PROT_READ | PROT_EXEC).answer, FILTER_STOP);
	assert_int_equal(ask(&b, NR_mprotect, 2, PROT_READ).answer, SECCOMP_RET_ALLOW);
}

static void questions_about_descriptors_and_limits_do_not_stop(void **state)
{
	(void)state;
	static const uint32_t native[] = {F_GETFL, F_GETFD, F_SETFD};
	static const uint32_t mediated[] = {
		F_DUPFD, F_DUPFD_CLOEXEC, F_SETFL, F_SETLK, F_SETLKW, F_OFD_SETLKW, F_SETLEASE};
	struct base b = base_program(false);
	for (size_t i = 0; i < ARRAY_LEN(native); i++)
		assert_int_equal(ask(&b, NR_fcntl, 1, native[i]).answer, SECCOMP_RET_ALLOW);
	for (size_t i = 0; i < ARRAY_LEN(mediated); i++)
		assert_int_equal(ask(&b, NR_fcntl, 1, mediated[i]).answer, FILTER_STOP);
	/* Of CPU time, which the supervisor keeps; else only asked for. */
	assert_int_equal(ask(&b, NR_prlimit64, 1, RLIMIT_CPU).answer, FILTER_STOP);
	assert_int_equal(ask(&b, NR_prlimit64, 1, RLIMIT_RTTIME).answer, FILTER_STOP);
	assert_int_equal(ask(&b, NR_prlimit64, 1, RLIMIT_STACK).answer, SECCOMP_RET_ALLOW);
	assert_int_equal(ask(&b, NR_prlimit64, 2, 1).answer, FILTER_STOP);
	assert_int_equal(ask(&b, NR_prlimit64, 2, (uint64_t)1 << 32).answer, FILTER_STOP);
}

static void setting_the_segment_base_does_not_stop(void **state)
{
	(void)state;
	struct base b = base_program(false);
	if (NR_arch_prctl < 0)
		skip();
	assert_int_equal(ask(&b, (uint32_t)NR_arch_prctl, 0, 0x1002).answer, SECCOMP_RET_ALLOW);
	assert_int_equal(ask(&b, (uint32_t)NR_arch_prctl, 0, 0x1012).answer, FILTER_STOP);
}

static void no_number_takes_many_compares(void **state)
{
	(void)state;
	for (int strict = 0; strict < 2; strict++) {
		struct base b = base_program(strict);
		for (uint32_t nr = 0; nr < 600; nr++)
			assert_true(ask(&b, nr, -1, 0).steps <= 24);
	}
}

static void tightening_stops_the_tight_rows_alone(void **state)
{
	(void)state;
	struct sock_filter prog[FILTER_TIGHT_ROOM];
	size_t length = filter_build_tight(UINT32_MAX, prog, FILTER_TIGHT_ROOM);
	assert_true(length > 2);
	bool tight[600] = {false};
	int count = 0;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].verdict == VERDICT_TIGHT && rows[i].nr >= 0) {
			tight[rows[i].nr] = true;
			count++;
		}
	assert_true(count > 0 && tight[NR_read] && tight[NR_write]);
	for (int nr = 0; nr < 600; nr++) {
		struct seccomp_data data = {.nr = nr, .arch = arch_audit};
		assert_int_equal(run(prog, length, &data).answer,
			tight[nr] ? FILTER_STOP : SECCOMP_RET_ALLOW);
	}
}

static uint32_t ask_bound(uint32_t bound, int nr, uint32_t first, uint32_t second)
{
	struct sock_filter prog[FILTER_TIGHT_ROOM];
	size_t length = filter_build_tight(bound, prog, FILTER_TIGHT_ROOM);
	struct seccomp_data data = {.nr = nr, .arch = arch_audit, .args = {first, second}};
	assert_true(length > 2);
	return run(prog, length, &data).answer;
}

static void reads_and_writes_above_the_bound_are_native(void **state)
{
	(void)state;
	static const int on_one[] = {NR_read, NR_write, NR_readv, NR_writev, NR_pread64, NR_preadv,
		NR_preadv2, NR_pwritev, NR_pwritev2};
	for (size_t i = 0; i < ARRAY_LEN(on_one); i++)
		for (uint32_t fd = 0; fd < 10; fd++)
			assert_int_equal(ask_bound(5, on_one[i], fd, 0),
				fd < 5 ? FILTER_STOP : SECCOMP_RET_ALLOW);
	/* Two descriptors, or sockets, which give others. */
	assert_int_equal(ask_bound(5, NR_splice, 9, 0), FILTER_STOP);
	assert_int_equal(ask_bound(5, NR_sendfile, 9, 9), FILTER_STOP);
	assert_int_equal(ask_bound(5, NR_recvmsg, 9, 0), FILTER_STOP);
	assert_int_equal(ask_bound(5, NR_getpid, 0, 0), SECCOMP_RET_ALLOW);
}

static void duplicates_of_mediated_descriptors_stop(void **state)
{
	(void)state;
	static const int duplications[] = {NR_dup, NR_dup2, NR_dup3};
	for (size_t i = 0; i < ARRAY_LEN(duplications); i++) {
		if (duplications[i] < 0)
			continue;
		assert_int_equal(ask_bound(5, duplications[i], 4, 9), FILTER_STOP);
		assert_int_equal(ask_bound(5, duplications[i], 5, 9), SECCOMP_RET_ALLOW);
		assert_int_equal(ask_bound(UINT32_MAX, duplications[i], 400, 0), FILTER_STOP);
	}
}

static void sharing_descriptors_with_a_process_stops(void **state)
{
	(void)state;
	struct base b = base_program(false);
	assert_int_equal(ask(&b, NR_clone, 0, CLONE_FILES | SIGCHLD).answer, FILTER_STOP);
	assert_int_equal(ask(&b, NR_clone, 0, CLONE_VM | SIGCHLD).answer, SECCOMP_RET_ALLOW);
	assert_int_equal(
		ask(&b, NR_clone, 0, CLONE_FILES | CLONE_THREAD).answer, SECCOMP_RET_ALLOW);
}

static void program_that_does_not_fit_is_not_built(void **state)
{
	(void)state;
	struct base b = base_program(false);
	struct sock_filter guarded[FILTER_ROOM];
	memset(guarded, 0x5a, sizeof(guarded));
	struct sock_filter untouched = guarded[0];
	assert_int_equal(filter_build(false, guarded, b.length - 1), 0);
	assert_memory_equal(&guarded[b.length - 1], &untouched, sizeof(untouched));
	assert_int_equal(filter_build(false, guarded, b.length), b.length);
	assert_int_equal(filter_build_tight(UINT32_MAX, guarded, 3), 0);
}

/* In a child: 0, or the number of the check that failed. */
static unsigned char under_base(const struct sock_fprog *prog)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, prog) != 0)
		return 1;
	if (syscall(SYS_getpid) <= 0)
		return 2;
	if (syscall(SYS_bpf, 0, NULL, 0) != -1 || errno != ENOSYS)
		return 3;
	if (syscall(SYS_clock_settime, 0, NULL) != -1 || errno != EPERM)
		return 4;
	if (syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) != -1 || errno != EPERM)
		return 5;
	/* A mediated call without a tracer is a call that does not exist. */
	if (syscall(SYS_uname, NULL) != -1 || errno != ENOSYS)
		return 6;
	return 0;
}

static unsigned char under_tight(const struct sock_fprog *prog)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, prog) != 0)
		return 1;
	if (syscall(SYS_getpid) <= 0)
		return 2;
	if (syscall(SYS_write, 1, "", 0) != -1 || errno != ENOSYS)
		return 3;
	return 0;
}

/* The answer comes through shared memory, since a filter may take exit and write away. */
static void run_in_child(
	unsigned char (*check)(const struct sock_fprog *), struct sock_filter *prog, size_t length)
{
	unsigned char *answer =
		mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(answer != MAP_FAILED);
	*answer = UINT8_MAX;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct rlimit none = {0, 0};
		setrlimit(RLIMIT_CORE, &none);
		sigaction(SIGILL, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
		struct sock_fprog fprog = {(unsigned short)length, prog};
		*answer = check(&fprog);
		__builtin_trap();
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(*answer, 0);
	munmap(answer, 1);
}

static void kernel_takes_the_programs(void **state)
{
	(void)state;
	struct base b = base_program(false);
	run_in_child(under_base, b.prog, b.length);
	struct sock_filter tight[FILTER_TIGHT_ROOM];
	run_in_child(under_tight, tight, filter_build_tight(UINT32_MAX, tight, FILTER_TIGHT_ROOM));
}

/* Valgrind makes calls of its own, which the filter would refuse. */
static bool is_in_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");
	return preload && strstr(preload, "valgrind");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_gets_its_verdict),
		cmocka_unit_test(number_that_nobody_decided_stops),
		cmocka_unit_test(number_of_a_foreign_abi_fails),
		cmocka_unit_test(call_of_a_foreign_architecture_fails),
		cmocka_unit_test(clone_flags_that_escape_are_refused),
		cmocka_unit_test(memory_calls_do_not_tell_of_the_host),
		cmocka_unit_test(allowed_calls_read_no_argument),
		cmocka_unit_test(what_becomes_executable_stops),
		cmocka_unit_test(questions_about_descriptors_and_limits_do_not_stop),
		cmocka_unit_test(setting_the_segment_base_does_not_stop),
		cmocka_unit_test(no_number_takes_many_compares),
		cmocka_unit_test(tightening_stops_the_tight_rows_alone),
		cmocka_unit_test(reads_and_writes_above_the_bound_are_native),
		cmocka_unit_test(duplicates_of_mediated_descriptors_stop),
		cmocka_unit_test(sharing_descriptors_with_a_process_stops),
		cmocka_unit_test(program_that_does_not_fit_is_not_built),
		cmocka_unit_test(kernel_takes_the_programs),
	};
	/* The last one where it can run; elsewhere it is not counted. */
	size_t count = ARRAY_LEN(tests) - is_in_valgrind();
	return _cmocka_run_group_tests("filter", tests, count, NULL, NULL);
}
