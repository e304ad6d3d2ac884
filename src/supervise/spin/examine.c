/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The examination of a loop: see examine.h.
 *
 * How it works: single steps until the registers are those of an earlier step (Brent's search for a
 * cycle). That is necessary and not sufficient, since a counter in memory moves while registers
 * recur. So the instructions of one more period are decoded before each of them runs: what each
 * will read and write is known from the registers, and the first sight of a word keeps its value.
 * When registers (those of the vector unit too) and every word that was written are the same after
 * that period and after another one, the task's whole state recurs: as long as nobody else writes
 * what it reads, it goes round for ever, and at which round it is stopped makes no difference.
 *
 * It does make one where in the round: so it is stepped on to the canonical point, the state with
 * the lowest instruction address (of several with that, the least by its bytes).
 */
#include "supervise/spin/examine.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "supervise/engine/gmem.h"
#include "supervise/engine/loop.h"

enum { EVENT_SHIFT = 16 };

/* Of one examination. */
struct view {
	struct task *t;
	unsigned budget;
	struct regs regs; /* of now, clean */
	bool knows_all;	  /* every instruction of the period was decoded, every access could be kept
			   */
	bool has_calls;
	bool left; /* another stop came and was handled: t may be gone */
};

static bool read_regs(struct view *v)
{
	if (arch_regs_read(v->t->tid, &v->regs) < 0)
		return false;
	arch_regs_clean(&v->regs);
	return true;
}

static bool are_same(const struct regs *a, const struct regs *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static bool is_before(const struct regs *a, const struct regs *b)
{
	if (arch_ip(a) != arch_ip(b))
		return arch_ip(a) < arch_ip(b);
	return memcmp(a, b, sizeof(*a)) < 0;
}

static bool is_step(pid_t tid)
{
	siginfo_t info;

	return ptrace(PTRACE_GETSIGINFO, tid, 0, &info) == 0 && info.si_code == TRAP_TRACE;
}

/* Resumes t and waits for the one stop that this asks for; false: it was another, and is handled.
 */
static bool go(struct view *v, int request, int wanted)
{
	pid_t tid = v->t->tid;
	int status;

	if (ptrace(request, tid, 0, 0) == 0 && loop_wait_tid(tid, &status) == 0) {
		if (WIFSTOPPED(status) && WSTOPSIG(status) == wanted &&
			(unsigned)status >> EVENT_SHIFT == 0 &&
			(request != PTRACE_SINGLESTEP || is_step(tid)))
			return true;
		loop_report(tid, status);
	}
	v->left = true;
	return false;
}

/* A call that the filter lets pass runs from its entry stop to its exit stop; any other is handled
 * as ever. */
static bool step_call(struct view *v)
{
	const struct syscall_row *row;
	struct regs regs;
	struct call call;

	if (!go(v, PTRACE_SYSCALL, SIGTRAP | 0x80) || arch_regs_read(v->t->tid, &regs) < 0)
		return false;
	arch_call_get(&regs, &call);
	row = call_row(call.nr);
	if (row && row->verdict == VERDICT_ALLOW) {
		v->has_calls = true;
		return go(v, PTRACE_SYSCALL, SIGTRAP | 0x80);
	}
	return false; /* resumed by the loop, it meets the filter */
}

/* One instruction. False: the examination is over. */
static bool step(struct view *v)
{
	unsigned char code[ARCH_INSN_MAX];
	ssize_t n = gmem_read_some(v->t, arch_ip(&v->regs), code, sizeof(code));

	if (v->budget == 0 || n < 0)
		return false;
	v->budget--;
	switch (arch_insn_step(code, (size_t)n)) {
	case ARCH_STEP_CALL:
		return step_call(v) && read_regs(v);
	case ARCH_STEP_NEVER:
		return false;
	case ARCH_STEP_PLAIN:
	default:
		break;
	}
	return go(v, PTRACE_SINGLESTEP, SIGTRAP) && read_regs(v);
}

/* The same where the loop's lowest instruction is known: from there, once, to there. */
static unsigned find_period_at(struct view *v, uint64_t ip)
{
	enum { ROUNDS = 4 }; /* whose first may have come from elsewhere */
	struct regs reference;
	unsigned length = 0;
	int rounds = 0;

	while (arch_ip(&v->regs) != ip)
		if (!step(v))
			return 0;
	reference = v->regs;
	while (rounds < ROUNDS && step(v)) {
		length++;
		if (arch_ip(&v->regs) != ip)
			continue;
		if (are_same(&reference, &v->regs))
			return length;
		reference = v->regs;
		length = 0;
		rounds++;
	}
	return 0;
}

/* Steps until registers recur: the period, or 0. */
static unsigned find_period(struct view *v)
{
	struct regs reference = v->regs;
	unsigned power = 1, length = 0;

	while (step(v)) {
		length++;
		if (are_same(&reference, &v->regs))
			return length;
		if (length == power) {
			reference = v->regs;
			power *= 2;
			length = 0;
		}
	}
	return 0;
}

static void note_accesses(struct view *v, struct words *words)
{
	struct arch_access accesses[ARCH_ACCESSES];
	unsigned char code[ARCH_INSN_MAX];
	ssize_t n = gmem_read_some(v->t, arch_ip(&v->regs), code, sizeof(code));
	int count = n < 0 ? -1 : arch_insn_accesses(&v->regs, code, (size_t)n, accesses);

	if (count < 0)
		v->knows_all = false;
	for (int i = 0; i < count; i++)
		if (!words_add(words, v->t, &accesses[i]))
			v->knows_all = false;
}

/*
 * One period from here with the accesses noted; *ret_least is its canonical point, *ret_times how
 * often that comes. False: over, or it was no period.
 */
static bool walk(struct view *v, unsigned period, struct words *words, struct regs *ret_least,
	unsigned *ret_times)
{
	const struct regs start = v->regs;
	unsigned times = 0;

	for (unsigned i = 0; i < period; i++) {
		if (times == 0 || is_before(&v->regs, ret_least)) {
			*ret_least = v->regs;
			times = 1;
		} else if (are_same(&v->regs, ret_least))
			times++;
		note_accesses(v, words);
		if (!step(v))
			return false;
	}
	*ret_times = times;
	return are_same(&start, &v->regs);
}

static bool same_vectors(struct view *v, const unsigned char *before, ssize_t len)
{
	static unsigned char now[ARCH_VECTORS_MAX];

	return arch_vectors_read(v->t->tid, now) == len && len > 0 &&
	       memcmp(before, now, (size_t)len) == 0;
}

/* Memory moves in the loop: what it may wait for all the same. */
static enum spin_verdict judge_impure(struct view *v, struct spin_finding *f)
{
	uint64_t values;

	f->is_known = v->knows_all && !v->has_calls;
	f->awaits = words_awaited(&f->words, v->t, arch_sp(&v->regs), &f->awaited, &values);
	f->key = (values ^ f->ip) * 0x100000001b3 ^ f->moved;
	/* It counts, and nobody can change what it does but itself. */
	return f->moved_count && f->is_known && f->awaits == WORDS_NONE ? SPIN_COMPUTES
									: SPIN_IMPURE;
}

/* The loop recurs in its registers. Steps two periods and judges. */
static enum spin_verdict judge(struct view *v, struct spin_finding *f)
{
	/*
	 * Words that may move in a loop that waits: an interpreter's counters. The JVM has three
	 * for an empty loop, and two more for each method that it calls.
	 */
	enum { FEW = 16 };
	static unsigned char vectors[ARCH_VECTORS_MAX];
	ssize_t len = arch_vectors_read(v->t->tid, vectors);
	struct regs least;
	unsigned times, moved;

	f->words.count = 0;
	v->knows_all = true;
	v->has_calls = false;
	for (int round = 0; round < 2; round++) {
		if (!walk(v, f->period, &f->words, &least, &times))
			return SPIN_COMPUTES;
		if (!same_vectors(v, vectors, len))
			return SPIN_COMPUTES;
		f->ip = arch_ip(&least);
		f->moved = 0;
		moved = words_moved(&f->words, v->t, &f->moved);
		if (moved > FEW)
			return SPIN_COMPUTES;
		f->moved_count = moved;
		if (moved)
			return judge_impure(v, f);
	}
	if (!v->knows_all || v->has_calls || times != 1)
		return judge_impure(v, f);
	while (!are_same(&v->regs, &least))
		if (!step(v))
			return SPIN_COMPUTES;
	if (!words_refresh(&f->words, v->t))
		return SPIN_IMPURE;
	f->awaits = words_awaited(&f->words, v->t, arch_sp(&v->regs), &f->awaited, &f->key);
	return SPIN_PURE;
}

enum spin_verdict spin_examine(
	struct task *t, unsigned budget, uint64_t ip, struct spin_finding *ret)
{
	struct view v = {.t = t, .budget = budget};
	enum spin_verdict verdict = SPIN_COMPUTES;

	if (!read_regs(&v))
		return SPIN_LEFT;
	ret->period = ip ? find_period_at(&v, ip) : find_period(&v);
	if (ret->period)
		verdict = judge(&v, ret);
	return v.left ? SPIN_LEFT : verdict;
}
