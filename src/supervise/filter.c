/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the guest's seccomp programs from wire/syscalls.def.
 *
 * How it works: every number below NR_ROOM gets a class. Neighbours of one class are joined into
 * ranges, and the ranges become a binary tree of compares whose leaves are returns. Nothing but the
 * architecture and the number is read on the way to an ALLOW leaf: for such numbers the kernel
 * computes the verdict once, when the filter is installed, keeps it in a bitmap and does not run
 * the program any more (seccomp_cache_prepare, since 5.11). clone alone reads an argument.
 */
#include "supervise/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdint.h>

#include "supervise/arch.h"
#include "supervise/call.h"
#include "wire/sysnr.h"

enum {
	NR_ROOM = 512,	  /* every number of the table is below */
	JUMP_MAX = 255,	  /* a conditional jump holds its distance in a byte */
	LAST_RANGE = 511, /* at most one range a number */
};

/*
 * What a guest must not ask of clone: to escape from the supervisor, or namespaces of its own.
 * CLONE_NEWTIME lies in the byte of the exit signal and so exists for clone3 and unshare only.
 */
static const uint32_t clone_refused = CLONE_UNTRACED | CLONE_NEWNS | CLONE_NEWCGROUP |
				      CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
				      CLONE_NEWNET;

enum leaf { LEAF_TRACE, LEAF_ALLOW, LEAF_ENOSYS, LEAF_EPERM, LEAF_CLONE_ALLOW, LEAF_CLONE_TRACE };

static const uint32_t leaf_answer[] = {
	[LEAF_TRACE] = SECCOMP_RET_TRACE,
	[LEAF_ALLOW] = SECCOMP_RET_ALLOW,
	[LEAF_ENOSYS] = SECCOMP_RET_ERRNO | ENOSYS,
	[LEAF_EPERM] = SECCOMP_RET_ERRNO | EPERM,
	[LEAF_CLONE_ALLOW] = SECCOMP_RET_ALLOW,
	[LEAF_CLONE_TRACE] = SECCOMP_RET_TRACE,
};

static const struct row {
	int nr;
	enum verdict verdict;
} rows[] = {
#define SYSCALL(name, verdict, enter, leave, note) {NR_##name, VERDICT_##verdict},
#include "wire/syscalls.def"
#undef SYSCALL
};

struct range {
	uint32_t first; /* up to the next range's */
	enum leaf leaf;
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

static bool is_clone(enum leaf leaf)
{
	return leaf == LEAF_CLONE_ALLOW || leaf == LEAF_CLONE_TRACE;
}

static void emit_leaf(struct program *p, enum leaf leaf)
{
	if (is_clone(leaf)) {
		/* The flags' low half is all that the kernel looks at; both ABIs are little-endian.
		 */
		emit_load(p, offsetof(struct seccomp_data, args[0]));
		emit(p, BPF_JMP | BPF_JSET | BPF_K, clone_refused, 0, 1);
		emit_return(p, leaf_answer[LEAF_EPERM]);
	}
	emit_return(p, leaf_answer[leaf]);
}

/* Instructions of emit_tree for these ranges. */
static size_t tree_size(const struct range *ranges, size_t count)
{
	if (count == 1)
		return is_clone(ranges[0].leaf) ? 4 : 1;
	size_t left = tree_size(ranges, count / 2);
	return 1 + (left > JUMP_MAX) + left + tree_size(ranges + count / 2, count - count / 2);
}

/* Depth is the binary logarithm of the count: recursion is bounded by the table. */
static void emit_tree(struct program *p, const struct range *ranges, size_t count)
{
	if (count == 1) {
		emit_leaf(p, ranges[0].leaf);
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

static enum leaf leaf_of(const struct row *row, bool strict)
{
	switch (row->verdict) {
	case VERDICT_ALLOW:
		return row->nr == NR_clone ? LEAF_CLONE_ALLOW : LEAF_ALLOW;
	case VERDICT_TIGHT:
		return strict ? LEAF_TRACE : LEAF_ALLOW;
	case VERDICT_STOP:
		return row->nr == NR_clone ? LEAF_CLONE_TRACE : LEAF_TRACE;
	case VERDICT_ENOSYS:
		return LEAF_ENOSYS;
	case VERDICT_EPERM:
		return LEAF_EPERM;
	case VERDICT_COUNT:
		break;
	}
	return LEAF_TRACE;
}

/* Joins neighbours of one class; returns the number of ranges. */
static size_t make_ranges(bool strict, struct range ranges[LAST_RANGE + 1])
{
	enum leaf leaves[NR_ROOM] = {LEAF_TRACE};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].nr >= 0 && rows[i].nr < NR_ROOM)
			leaves[rows[i].nr] = leaf_of(&rows[i], strict);
	size_t count = 0;
	for (uint32_t nr = 0; nr < NR_ROOM; nr++)
		if (nr == 0 || leaves[nr] != leaves[nr - 1])
			ranges[count++] = (struct range){nr, leaves[nr]};
	/* What lies beyond the table is unknown, whatever its last number is. */
	if (ranges[count - 1].leaf != LEAF_TRACE && count <= LAST_RANGE)
		ranges[count++] = (struct range){NR_ROOM, LEAF_TRACE};
	return count;
}

size_t filter_build(bool strict, struct sock_filter *out, size_t room)
{
	struct program p = {.out = out, .room = room};
	struct range ranges[LAST_RANGE + 1];
	size_t count = make_ranges(strict, ranges);

	emit_load(&p, offsetof(struct seccomp_data, arch));
	emit(&p, BPF_JMP | BPF_JEQ | BPF_K, arch_audit, 1, 0);
	emit_return(&p, leaf_answer[LEAF_ENOSYS]);
	emit_load(&p, offsetof(struct seccomp_data, nr));
	/* x32 is a range of numbers, not an architecture; the call -1 is beyond the limit too. */
	emit(&p, BPF_JMP | BPF_JGT | BPF_K, arch_nr_limit, 0, 1);
	emit_return(&p, leaf_answer[LEAF_ENOSYS]);
	emit_tree(&p, ranges, count);
	return finish(&p);
}

size_t filter_build_tight(struct sock_filter *out, size_t room)
{
	struct program p = {.out = out, .room = room};
	uint8_t left = 0;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].verdict == VERDICT_TIGHT && rows[i].nr >= 0)
			left++;

	/* No look at the architecture: the base program's refusal outranks any answer given here.
	 */
	emit_load(&p, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].verdict == VERDICT_TIGHT && rows[i].nr >= 0)
			emit(&p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)rows[i].nr, left--, 0);
	emit_return(&p, leaf_answer[LEAF_ALLOW]);
	emit_return(&p, leaf_answer[LEAF_TRACE]);
	return finish(&p);
}
