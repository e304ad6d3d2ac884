/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop that counts its rounds in a register: see spin_examine_count.
 *
 * Its state never recurs, so nothing proves that it waits. But where some registers move by the
 * same amounts in two periods that follow each other, all others and the memory are what they were,
 * and both periods touch the same words, it does nothing but count while it reads what does not
 * change.
 */
#include "supervise/spin/examine.h"

#include "supervise/arch.h"
#include "supervise/spin/steps.h"

enum { COUNT_STEPS = 4096, VISITS = 64, COUNTERS = 2 };

/* How many registers move from a to b as from b to c, or -1: something else does. */
static int counters(const struct regs *a, const struct regs *b, const struct regs *c)
{
	const unsigned words = sizeof(*a) / sizeof(unsigned long long);
	const unsigned long long *x = (const void *)a, *y = (const void *)b, *z = (const void *)c;
	int count = 0;

	if (arch_ip(a) != arch_ip(b) || arch_ip(b) != arch_ip(c) || arch_sp(a) != arch_sp(b))
		return -1;
	for (unsigned i = 0; i < words; i++) {
		if (i == arch_flags_word || (x[i] == y[i] && y[i] == z[i]))
			continue;
		if (y[i] - x[i] != z[i] - y[i])
			return -1;
		count++;
	}
	return count;
}

static bool is_count(int n)
{
	return n > 0 && n <= COUNTERS;
}

/* Steps until it has come here at least twice more, in periods of one length; that, or 0. */
static unsigned find_period(struct stepper *v)
{
	static struct regs visit[VISITS];
	unsigned at[VISITS] = {0}, n = 1, length = 0;

	visit[0] = v->regs;
	while (n < VISITS && stepper_step(v)) {
		length++;
		if (arch_ip(&v->regs) != arch_ip(&visit[0]))
			continue;
		visit[n] = v->regs;
		at[n] = length;
		if (n % 2 == 0 && at[n] == 2 * at[n / 2] &&
			is_count(counters(&visit[0], &visit[n / 2], &visit[n])))
			return at[n / 2];
		n++;
	}
	return 0;
}

static enum spin_verdict judge(struct stepper *v, struct spin_finding *f)
{
	static unsigned char vectors[ARCH_VECTORS_MAX];
	ssize_t len = arch_vectors_read(v->t->tid, vectors);
	struct regs state[3] = {v->regs}, least;
	unsigned times, touched = 0;
	uint64_t values;
	int n;

	f->words.count = 0;
	v->knows_all = true;
	v->has_calls = false;
	for (int round = 1; round <= 2; round++) {
		if (!stepper_walk(v, f->period, &f->words, &least, &times) ||
			(round == 2 && f->words.count != touched))
			return SPIN_COMPUTES;
		touched = f->words.count;
		state[round] = v->regs;
	}
	n = counters(&state[0], &state[1], &state[2]);
	f->ip = arch_ip(&least);
	f->moved = 0;
	f->moved_count = words_moved(&f->words, v->t, &f->moved);
	f->awaits = words_awaited(&f->words, v->t, arch_sp(&v->regs), &f->awaited, &values);
	f->key = (values ^ f->ip) * 0x100000001b3 ^ f->moved;
	f->is_known = v->knows_all && !v->has_calls;
	if (!is_count(n) || !f->is_known || !stepper_same_vectors(v, vectors, len) ||
		f->moved_count > SPIN_WORDS_FEW || f->awaits == WORDS_NONE)
		return SPIN_COMPUTES;
	f->counters = (unsigned)n;
	return SPIN_IMPURE;
}

enum spin_verdict spin_examine_count(struct task *t, struct spin_finding *ret)
{
	struct stepper v = {.t = t, .budget = COUNT_STEPS};
	enum spin_verdict verdict = SPIN_COMPUTES;

	if (!stepper_read(&v))
		return SPIN_LEFT;
	ret->period = find_period(&v);
	if (ret->period)
		verdict = judge(&v, ret);
	return v.left ? SPIN_LEFT : verdict;
}
