/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the guest's seccomp programs from wire/syscalls.def.
 *
 * How it works: every number below NR_ROOM gets an answer. Neighbours with the same answer are
 * joined into ranges, and the ranges become a binary tree of compares whose leaves are returns.
 * Nothing but the architecture and the number is read on the way to an ALLOW leaf: for such numbers
 * the kernel computes the answer once, when the filter is installed, keeps it in a bitmap and does
 * not run the program any more (since 5.11). Only the few calls of `checks` look at one argument.
 */
#include "supervise/engine/filter.h"

#if defined(__x86_64__)
#include <asm/prctl.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "supervise/arch.h"
#include "supervise/engine/call.h"
#include "wire/sysnr.h"

enum {
	NR_ROOM = 512,	/* every number of the table is below */
	JUMP_MAX = 255, /* a conditional jump holds its distance in a byte */
	RANGES_MAX = NR_ROOM + 1,
};

static const struct row {
	int nr;
	enum verdict verdict;
} rows[] = {
#define SYSCALL(name, verdict, enter, leave, note) {NR_##name, VERDICT_##verdict},
#include "wire/syscalls.def"
#undef SYSCALL
};

enum test {
	ANY_BIT,
	NO_BIT,
	EQUAL,
	NULL_POINTER, /* both halves */
	OWN_TABLE,    /* of descriptors: a thread, or a process that shares none */
};
enum { NATIVE = 4096, STOPPED }; /* no error numbers */

/*
 * Arguments that change a call's answer: the rows of one call are asked in their order. Only its
 * low half is looked at: flags of these calls have no more.
 */
static const struct check {
	int nr;
	uint8_t arg;
	enum test test;
	uint32_t value;
	uint32_t error; /* 0: accepted and ignored; NATIVE: the kernel does it, without a stop;
			 * STOPPED: as without any check */
} checks[] = {
#if defined(__x86_64__)
	/* What every program does at its start. */
	{NR_arch_prctl, 0, EQUAL, ARCH_SET_FS, NATIVE},
	/* ARCH_CET_STATUS of kernels that never were: glibc asks for it at every start. */
	{NR_arch_prctl, 0, EQUAL, 0x3001, EINVAL},
#endif
	/* These two are kept by us, for whoever asks (sys/policy.c). */
	{NR_prlimit64, 1, EQUAL, RLIMIT_CPU, STOPPED},
	{NR_prlimit64, 1, EQUAL, RLIMIT_RTTIME, STOPPED},
	/* Limits that are only asked for, as every program does at its start. */
	{NR_prlimit64, 2, NULL_POINTER, 0, NATIVE},
	/* Of a descriptor: neither locks nor what tightens. */
	{NR_fcntl, 1, EQUAL, F_GETFL, NATIVE},
	{NR_fcntl, 1, EQUAL, F_GETFD, NATIVE},
	{NR_fcntl, 1, EQUAL, F_SETFD, NATIVE},

	/* To escape from the supervisor. */
	{NR_clone, 0, ANY_BIT, CLONE_UNTRACED, EPERM},
	/* Namespaces of its own. CLONE_NEWTIME is a bit of the exit signal here: it needs clone3.
	 */
	{NR_clone, 0, ANY_BIT, CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC, EPERM},
	{NR_clone, 0, ANY_BIT, CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET, EPERM},
	{NR_clone, 0, OWN_TABLE, 0, NATIVE},
	{NR_close_range, 2, NO_BIT, CLOSE_RANGE_UNSHARE, NATIVE},
	/* Whether the host has huge pages to spare is not for the guest to know. */
	{NR_mmap, 3, ANY_BIT, MAP_HUGETLB, ENOMEM},
	/* Of shared memory the host's limit shows in the sizes that it refuses. */
	{NR_mmap, 2, ANY_BIT, PROT_EXEC, STOPPED},
	{NR_mprotect, 2, NO_BIT, PROT_EXEC, NATIVE},
	{NR_mmap, 3, NO_BIT, MAP_SHARED, NATIVE},
	{NR_memfd_create, 1, ANY_BIT, MFD_HUGETLB, ENOSYS},
	/* MFD_NOEXEC_SEAL and MFD_EXEC, younger than the pinned kernel. */
	{NR_memfd_create, 1, ANY_BIT, 0x18, EINVAL},
	/* PIDFD_THREAD, younger than the pinned kernel. */
	{NR_pidfd_open, 1, ANY_BIT, O_EXCL, EINVAL},
	/* Would read as old data or zeros, as the host's need of memory has it; callers fall back
	 * to MADV_DONTNEED, since kernels before 4.5 refuse it too. */
	{NR_madvise, 2, EQUAL, MADV_FREE, EINVAL},
	/* Hints that only some kernels are built with. */
	{NR_madvise, 2, EQUAL, MADV_MERGEABLE, 0},
	{NR_madvise, 2, EQUAL, MADV_UNMERGEABLE, 0},
	{NR_madvise, 2, EQUAL, MADV_HUGEPAGE, 0},
	{NR_madvise, 2, EQUAL, MADV_NOHUGEPAGE, 0},
	/* MADV_COLLAPSE, and from MADV_GUARD_INSTALL on what is younger than the pinned kernel. */
	{NR_madvise, 2, EQUAL, 25, EINVAL},
	{NR_madvise, 2, EQUAL, 102, EINVAL},
	{NR_madvise, 2, EQUAL, 103, EINVAL},
};

struct range {
	uint32_t first; /* up to the next range's */
	uint32_t answer;
	bool checked; /* one number, of `checks` */
};

struct program {
	struct sock_filter *out;
	size_t length, room; /* length > room: it did not fit */
};

static void emit(struct program *p, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	if (p->length < p->room)
		p->out[p->length] = (struct sock_filter){.code = code, .jt = jt, .jf = jf, .k = k};
	p->length++;
}

static void emit_load(struct program *p, size_t offset)
{
	emit(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void emit_return(struct program *p, uint32_t answer)
{
	emit(p, BPF_RET | BPF_K, answer, 0, 0);
}

static size_t finish(const struct program *p)
{
	return p->length <= p->room ? p->length : 0;
}

/* Both architectures are little-endian: the low half comes first. */
static size_t arg_offset(uint8_t arg)
{
	return offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t);
}

/* Goes past the instruction that follows when the argument is no null pointer. */
static void emit_null_test(struct program *p, uint8_t arg)
{
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
	emit_load(p, arg_offset(arg) + sizeof(uint32_t));
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
}

/* The same when the flags of clone make a process that shares its table of descriptors. */
static void emit_table_test(struct program *p)
{
	emit(p, BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0);
	emit(p, BPF_JMP | BPF_JSET | BPF_K, CLONE_FILES, 1, 0);
}

static void emit_leaf(struct program *p, const struct range *range)
{
	int loaded = -1;

	for (size_t i = 0; range->checked && i < ARRAY_LEN(checks); i++) {
		const struct check *c = &checks[i];
		if (c->nr != (int)range->first)
			continue;
		if (loaded != c->arg)
			emit_load(p, arg_offset(c->arg));
		loaded = c->arg;
		uint16_t jump = c->test == EQUAL ? BPF_JEQ : BPF_JSET;
		if (c->test == NULL_POINTER)
			emit_null_test(p, c->arg);
		else if (c->test == OWN_TABLE)
			emit_table_test(p);
		else
			emit(p, BPF_JMP | jump | BPF_K, c->value, c->test == NO_BIT,
				c->test != NO_BIT);
		emit_return(p, c->error == NATIVE    ? SECCOMP_RET_ALLOW
			       : c->error == STOPPED ? range->answer
						     : SECCOMP_RET_ERRNO | c->error);
	}
	emit_return(p, range->answer);
}

/* Instructions that emit_tree makes of these ranges. */
static size_t tree_size(const struct range *ranges, size_t count)
{
	if (count == 1) {
		struct program p = {0};
		emit_leaf(&p, ranges);
		return p.length;
	}
	size_t left = tree_size(ranges, count / 2);
	return 1 + (left > JUMP_MAX) + left + tree_size(ranges + count / 2, count - count / 2);
}

/* The depth is the binary logarithm of the count. */
static void emit_tree(struct program *p, const struct range *ranges, size_t count)
{
	if (count == 1) {
		emit_leaf(p, ranges);
		return;
	}
	size_t half = count / 2;
	size_t left = tree_size(ranges, half);
	uint32_t pivot = ranges[half].first;
	if (left > JUMP_MAX) {
		emit(p, BPF_JMP | BPF_JGE | BPF_K, pivot, 0, 1);
		emit(p, BPF_JMP | BPF_JA, (uint32_t)left, 0, 0);
	} else {
		emit(p, BPF_JMP | BPF_JGE | BPF_K, pivot, (uint8_t)left, 0);
	}
	emit_tree(p, ranges, half);
	emit_tree(p, ranges + half, count - half);
}

static uint32_t answer_of(enum verdict verdict, bool strict)
{
	switch (verdict) {
	case VERDICT_ALLOW:
		return SECCOMP_RET_ALLOW;
	case VERDICT_TIGHT:
		return strict ? FILTER_STOP : SECCOMP_RET_ALLOW;
	case VERDICT_ENOSYS:
		return SECCOMP_RET_ERRNO | ENOSYS;
	case VERDICT_EPERM:
		return SECCOMP_RET_ERRNO | EPERM;
	case VERDICT_STOP:
	case VERDICT_COUNT:
		break;
	}
	return FILTER_STOP;
}

static bool is_checked(int nr)
{
	for (size_t i = 0; i < ARRAY_LEN(checks); i++)
		if (checks[i].nr == nr)
			return true;
	return false;
}

/* Joins neighbours of one answer; returns the number of ranges. */
static size_t make_ranges(bool strict, struct range ranges[RANGES_MAX])
{
	struct range one[RANGES_MAX];
	/* The last stands for all beyond the table. What nobody decided stops. */
	for (uint32_t nr = 0; nr < RANGES_MAX; nr++)
		one[nr] = (struct range){nr, FILTER_STOP, false};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int nr = rows[i].nr;
		if (nr < 0 || nr >= NR_ROOM)
			continue;
		one[nr].answer = answer_of(rows[i].verdict, strict);
		one[nr].checked = is_checked(nr);
	}
	size_t count = 0;
	for (uint32_t nr = 0; nr < RANGES_MAX; nr++)
		if (nr == 0 || one[nr].checked || one[nr - 1].checked ||
			one[nr].answer != one[nr - 1].answer)
			ranges[count++] = one[nr];
	return count;
}

size_t filter_build(bool strict, struct sock_filter *out, size_t room)
{
	struct program p = {.out = out, .room = room};
	struct range ranges[RANGES_MAX];
	size_t count = make_ranges(strict, ranges);

	emit_load(&p, offsetof(struct seccomp_data, arch));
	emit(&p, BPF_JMP | BPF_JEQ | BPF_K, arch_audit, 1, 0);
	emit_return(&p, SECCOMP_RET_ERRNO | ENOSYS);
	emit_load(&p, offsetof(struct seccomp_data, nr));
	/* x32 is a range of numbers, not an architecture; the call -1 is beyond the limit too. */
	emit(&p, BPF_JMP | BPF_JGT | BPF_K, arch_nr_limit, 0, 1);
	emit_return(&p, SECCOMP_RET_ERRNO | ENOSYS);
	emit_tree(&p, ranges, count);
	return finish(&p);
}

/* Calls that matter for their first argument alone: a descriptor. */
static const int on_descriptor[] = {NR_read, NR_readv, NR_pread64, NR_preadv, NR_preadv2, NR_write,
	NR_writev, NR_pwritev, NR_pwritev2, NR_dup, NR_dup2, NR_dup3};

/* The end of a tightening program: where its compares of the number lead to. */
enum tail {
	TAIL_NONE,
	TAIL_DESCRIPTOR, /* below the bound it stops */
	TAIL_STOP = 3,
};

static void emit_tail(struct program *p, uint32_t bound)
{
	emit_return(p, SECCOMP_RET_ALLOW);
	emit_load(p, arg_offset(0));
	emit(p, BPF_JMP | BPF_JGE | BPF_K, bound, 1, 0);
	emit_return(p, FILTER_STOP);
	emit_return(p, SECCOMP_RET_ALLOW);
}

static enum tail tail_of(const struct row *row)
{
	if (row->verdict != VERDICT_TIGHT || row->nr < 0)
		return TAIL_NONE;
	for (size_t i = 0; i < ARRAY_LEN(on_descriptor); i++)
		if (on_descriptor[i] == row->nr)
			return TAIL_DESCRIPTOR;
	return TAIL_STOP;
}

size_t filter_build_tight(uint32_t bound, struct sock_filter *out, size_t room)
{
	struct program p = {.out = out, .room = room};
	uint8_t left = 0;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (tail_of(&rows[i]) != TAIL_NONE)
			left++;

	/* No look at the architecture: the base program's refusals outrank any answer from here. */
	emit_load(&p, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		enum tail tail = tail_of(&rows[i]);
		if (tail != TAIL_NONE)
			emit(&p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)rows[i].nr,
				(uint8_t)(--left + tail), 0);
	}
	emit_tail(&p, bound);
	return finish(&p);
}
