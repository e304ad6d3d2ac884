/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The launch contract: everything that decides what the guest can observe. run/contract.c writes
 * it as canonical JSON (whose SHA-256 names it); this folder carries the same fields to the
 * supervisor as bytes. What the host merely chooses (which CPU, injected delays) is in `struct
 * conditions`, which is never part of the digest: two runs of one contract under different
 * conditions must agree.
 */
#ifndef WIRE_CONTRACT_H
#define WIRE_CONTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/error.h"

/* Limits on what a contract may hold; beyond them ERR_LIMIT names the field. */
enum {
	CONTRACT_ARGS_MAX = 4096,	  /* strings in argv, and in env */
	CONTRACT_STRING_MAX = 128 * 1024, /* bytes in one string: the kernel's MAX_ARG_STRLEN */
	CONTRACT_TEXT_MAX = 1024 * 1024,  /* bytes in all of argv and env */
	CONTRACT_PATH_MAX = 4095,
	CONTRACT_BINDS_MAX = 64,
	CONTRACT_FILTER_MAX = 4096, /* instructions of the deny filter */
	CONTRACT_RLIMITS = 16,	    /* RLIM_NLIMITS */
	CONTRACT_SWITCHES_MAX = 65536,
	CONTRACT_STEPS_MAX = 65536, /* instructions after a call at which a switch may be */
};

enum contract_stdin {
	CONTRACT_STDIN_EMPTY,  /* /dev/null or closed: nothing to read */
	CONTRACT_STDIN_FILE,   /* a regular file; its digest is in the contract */
	CONTRACT_STDIN_STREAM, /* a pipe, socket or terminal: external input */
};

struct contract_bind {
	char *source;	 /* on the host; not part of what the guest sees */
	char *dest;	 /* absolute, inside */
	bool writable;	 /* --bind: shared with the host */
	char digest[72]; /* "sha256:..." of the tree, or "" when it was not taken */
};

struct contract_rlimit {
	uint64_t soft, hard; /* UINT64_MAX: unlimited */
};

/*
 * A switch that the order of tasks has on top of the rule: task and next are ordinals, point counts
 * that task's own scheduling points (engine/choice.h).
 */
struct contract_switch {
	uint32_t task, next;
	uint64_t point;
	uint32_t steps; /* 0: before the call; else 1 + instructions after it */
};

/* Owns everything it points to: contract_finish. Defaults: contract_init. */
struct contract {
	bool deterministic;
	bool tty; /* 0, 1 and 2 are a terminal of columns x rows */
	uint16_t columns, rows;
	enum contract_stdin stdin_kind;
	char stdin_digest[72];
	char *workflow_id;
	unsigned char entropy_key[32];	  /* HKDF-SHA256(workflow id, "sandglass/entropy/v1") */
	uint64_t epoch_ns;		  /* CLOCK_REALTIME at start, since 1970 */
	uint64_t monotonic_ns;		  /* CLOCK_MONOTONIC and BOOTTIME at start */
	uint64_t clock_step_ns;		  /* 0: reads do not move the clock */
	uint64_t sched_seed;		  /* 0: tasks run by the rule alone */
	struct contract_switch *switches; /* what is forced instead, by task and point */
	size_t switch_count;
	uint64_t memory_bytes;
	uint32_t pids;
	uint64_t tmp_bytes, tmp_inodes;	  /* /tmp */
	uint64_t copy_bytes, copy_inodes; /* private copy of the working directory */
	uint32_t uid, gid, umask_bits;
	uint32_t first_pid;
	char hostname[65];
	char cpu[80]; /* "" or "host:<digest>" where cpuid cannot be masked */
	struct contract_rlimit rlimits[CONTRACT_RLIMITS]; /* by RLIMIT_ number of x86-64 */
	char *rootfs;  /* host directory that becomes /, or NULL: the host view */
	char *workdir; /* absolute, inside; where the guest starts */
	/* Absolute: a host directory copied on write at its own path, or, with a rootfs, a
	 * directory of that (which may be missing there: an empty one). NULL: none */
	char *copy_dir;
	char *network;	    /* "none", "host" or "allow=HOST:PORT,...": run/network.h */
	char **argv, **env; /* NULL-terminated */
	struct contract_bind *binds;
	size_t bind_count;
};

/* One BPF instruction as the kernel has it; carried for the deny filter that launch builds. */
struct contract_filter_insn {
	uint16_t code;
	uint8_t jt, jf;
	uint32_t k;
};

/* What the host chooses for this one run. */
struct conditions {
	int cpu;	     /* every task is pinned to it; -1: the first allowed one */
	uint32_t delay_seed; /* not 0: short host delays at some stops, to shake out luck */
	/* Not 0: guest CPU time without a stop after which the earliest timer comes due (and the
	 * run is not enforced) */
	uint64_t timers_after_ns;
	bool memory_watch; /* no cgroup: the supervisor kills what exceeds memory_bytes itself */
	bool trace;	   /* send a DECISIONS stream (always on when deterministic) */
	bool mapped;	   /* tell the files mapped executable (MAPPED frames) */
	bool asks;	   /* a stream on standard input comes when asked for (INPUT_ASK frames) */
	struct contract_filter_insn *filter; /* deny filter installed in the guest; owned */
	size_t filter_len;
};

/* Connections to the outside are let out: made by the host, on request. */
bool contract_has_outside(const struct contract *c);

/* PINNED.md's defaults; argv, env, workdir and workflow_id start NULL. */
void contract_init(struct contract *c);
void contract_finish(struct contract *c);
void conditions_finish(struct conditions *c);
#define auto_contract CLEANUP(contract_finish)
#define auto_conditions CLEANUP(conditions_finish)

/* Where on the host copy_dir is (caller frees); NULL without one. */
char *contract_copy_source(const struct contract *c);

/* Refuses with ERR_LIMIT or ERR_USAGE what is over the limits above; changes nothing. */
MUST_CHECK int contract_check(const struct contract *c, struct error *err);

/* The payload of the LAUNCH frame: docs/format/control. */
void contract_encode(struct bytes *out, const struct contract *c, const struct conditions *k);
/* Trusts nothing; on error both structs are empty. */
MUST_CHECK int contract_decode(const void *data, size_t len, struct contract *ret_contract,
	struct conditions *ret_conditions, struct error *err);

#endif
