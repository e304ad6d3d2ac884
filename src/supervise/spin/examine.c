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

#include "supervise/spin/steps.h"

/* The same where the loop's lowest instruction is known: from there, once, to there. */
static unsigned find_period_at(struct stepper *v, uint64_t ip)
{
	enum { ROUNDS = 4 }; /* whose first may have come from elsewhere */
	struct regs reference;
	unsigned length = 0;
	int rounds = 0;

	while (arch_ip(&v->regs) != ip)
		if (!stepper_step(v))
			return 0;
	reference = v->regs;
	while (rounds < ROUNDS && stepper_step(v)) {
		length++;
		if (arch_ip(&v->regs) != ip)
			continue;
		if (steps_are_same(&reference, &v->regs))
			return length;
		reference = v->regs;
		length = 0;
		rounds++;
	}
	return 0;
}

/* Steps until registers recur: the period, or 0. */
static unsigned find_period(struct stepper *v)
{
	struct regs reference = v->regs;
	unsigned power = 1, length = 0;

	while (stepper_step(v)) {
		length++;
		if (steps_are_same(&reference, &v->regs))
			return length;
		if (length == power) {
			reference = v->regs;
			power *= 2;
			length = 0;
		}
	}
	return 0;
}

/* Memory moves in the loop: what it may wait for all the same. */
static enum spin_verdict judge_impure(struct stepper *v, struct spin_finding *f)
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
static enum spin_verdict judge(struct stepper *v, struct spin_finding *f)
{
	static unsigned char vectors[ARCH_VECTORS_MAX];
	ssize_t len = arch_vectors_read(v->t->tid, vectors);
	struct regs least;
	unsigned times, moved;

	f->words.count = 0;
	v->knows_all = true;
	v->has_calls = false;
	for (int round = 0; round < 2; round++) {
		const struct regs start = v->regs;

		if (!stepper_walk(v, f->period, &f->words, &least, &times) ||
			!steps_are_same(&start, &v->regs))
			return SPIN_COMPUTES;
		if (!stepper_same_vectors(v, vectors, len))
			return SPIN_COMPUTES;
		f->ip = arch_ip(&least);
		f->moved = 0;
		moved = words_moved(&f->words, v->t, &f->moved);
		if (moved > SPIN_WORDS_FEW)
			return SPIN_COMPUTES;
		f->moved_count = moved;
		if (moved)
			return judge_impure(v, f);
	}
	if (!v->knows_all || v->has_calls || times != 1)
		return judge_impure(v, f);
	while (!steps_are_same(&v->regs, &least))
		if (!stepper_step(v))
			return SPIN_COMPUTES;
	if (!words_refresh(&f->words, v->t))
		return SPIN_IMPURE;
	f->awaits = words_awaited(&f->words, v->t, arch_sp(&v->regs), &f->awaited, &f->key);
	return SPIN_PURE;
}

enum spin_verdict spin_examine(
	struct task *t, unsigned budget, uint64_t ip, struct spin_finding *ret)
{
	struct stepper v = {.t = t, .budget = budget};
	enum spin_verdict verdict = SPIN_COMPUTES;

	if (!stepper_read(&v))
		return SPIN_LEFT;
	ret->counters = 0;
	ret->period = ip ? find_period_at(&v, ip) : find_period(&v);
	if (ret->period)
		verdict = judge(&v, ret);
	return v.left ? SPIN_LEFT : verdict;
}
