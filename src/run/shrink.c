/* SPDX-License-Identifier: Apache-2.0 */
/* The fewest forced switches: see shrink.h. */
#include "run/shrink.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/switches.h"

/* So many are tried in each of their subsets. */
enum { FEW = 7 };

/* One round: the list in `parts`, and lists that are tried instead of it. */
struct round {
	const struct attempts *outer;
	const struct contract_switch *list;
	size_t count, parts;
	bool chunks;		   /* each chunk alone comes first, then all without it */
	const unsigned char *sets; /* or else these subsets, a bit each */
};

int shrink_switches(
	const struct attempt *a, struct contract_switch **ret, size_t *ret_count, struct error *err)
{
	enum { CHUNK = DECISION_SIZE * 1024 };
	autofree unsigned char *buf = mem_alloc(CHUNK);
	autofree struct contract_switch *list = NULL;
	size_t count = 0;

	for (uint64_t at = 0; at < a->decisions.kept && count < CONTRACT_SWITCHES_MAX;) {
		ssize_t n = pread(a->decisions.keep, buf, CHUNK, (off_t)at);

		if (n < DECISION_SIZE)
			return error_sys(err, "read the decisions of a run");
		n -= n % DECISION_SIZE;
		for (ssize_t i = 0; i < n && count < CONTRACT_SWITCHES_MAX; i += DECISION_SIZE) {
			struct decision d;

			decision_decode(buf + i, &d);
			if (d.kind != DECISION_FORCED)
				continue;
			list = mem_grow(list, count + 1, sizeof(*list));
			list[count++] = (struct contract_switch){.task = d.task,
				.point = d.args[0],
				.steps = (uint32_t)d.args[1],
				.next = (uint32_t)d.args[2]};
		}
		at += (uint64_t)n;
	}
	*ret = take_ptr(list);
	*ret_count = count;
	return 0;
}

/* Where part k of the list begins. */
static size_t part_start(const struct round *r, size_t k)
{
	return r->count * k / r->parts;
}

/* List i of the round; returns its length. */
static size_t variant(const struct round *r, size_t i, struct contract_switch *ret)
{
	bool alone = r->chunks && i < r->parts;
	size_t k = r->sets ? 0 : i % r->parts, from = part_start(r, k), to = part_start(r, k + 1);

	if (r->sets) {
		size_t count = 0;

		for (size_t bit = 0; bit < r->count; bit++)
			if (r->sets[i] >> bit & 1)
				ret[count++] = r->list[bit];
		return count;
	}
	if (r->parts == 1 || alone) {
		memcpy(ret, r->list + from, (to - from) * sizeof(*ret));
		return to - from;
	}
	memcpy(ret, r->list, from * sizeof(*ret));
	memcpy(ret + from, r->list + to, (r->count - to) * sizeof(*ret));
	return r->count - (to - from);
}

/* In the process of the run, so nobody frees it. */
static void vary(const void *arg, size_t i, struct contract *c)
{
	const struct round *r = arg;

	c->sched_seed = 0;
	c->switches = mem_array(r->count, sizeof(*c->switches));
	c->switch_count = variant(r, i, c->switches);
	switches_sort(c->switches, c->switch_count);
}

static bool judge(const void *arg, const struct outcome *o)
{
	const struct round *r = arg;

	return r->outer->judge(r->outer->arg, o);
}

static void told(const void *arg, size_t done)
{
	const struct round *r = arg;

	if (r->outer->told)
		r->outer->told(r->outer->arg, done);
}

/* Tries the lists of a round; 1: *list and *ret are those of the first that fails. */
static int try_lists(struct round *r, size_t lists, struct contract_switch *list, size_t *count,
	struct attempt *ret, struct error *err)
{
	struct attempts inner = *r->outer;
	auto_attempt struct attempt found = ATTEMPT_NONE;
	autofree struct contract_switch *kept = mem_array(*count, sizeof(*kept));
	size_t which;
	int found_one;

	inner.arg = r;
	inner.vary = vary;
	inner.judge = judge;
	inner.told = told;
	found_one = attempts_find(&inner, lists, &which, &found, err);
	if (found_one <= 0)
		return found_one;
	*count = variant(r, which, kept);
	memcpy(list, kept, *count * sizeof(*list));
	attempt_finish(ret);
	*ret = found;
	found = ATTEMPT_NONE;
	return 1;
}

static int try_parts(const struct attempts *s, size_t parts, struct contract_switch *list,
	size_t *count, struct attempt *ret, struct error *err)
{
	struct round r = {
		.outer = s, .list = list, .count = *count, .parts = parts, .chunks = parts == 2};

	return try_lists(&r, parts == 2 ? 4 : parts, list, count, ret, err);
}

/* A few switches: which subset of them is the smallest that fails? */
static int try_subsets(const struct attempts *s, struct contract_switch *list, size_t *count,
	struct attempt *ret, struct error *err)
{
	unsigned char sets[1 << FEW];
	struct round r = {.outer = s, .list = list, .count = *count, .parts = 1, .sets = sets};
	size_t lists = 0;

	for (int size = 1; size < (int)*count; size++)
		for (unsigned set = 1; set < 1u << *count; set++)
			if (__builtin_popcount(set) == size)
				sets[lists++] = (unsigned char)set;
	return try_lists(&r, lists, list, count, ret, err);
}

int shrink(const struct attempts *s, size_t tries, struct contract_switch *list, size_t *count,
	struct attempt *ret, struct error *err)
{
	size_t parts = 2, done = 1;
	int r = try_parts(s, 1, list, count, ret, err);

	if (r <= 0)
		return r;
	while (*count > FEW && done < tries) {
		size_t before = *count;

		parts = parts > *count ? *count : parts;
		done += parts;
		r = try_parts(s, parts, list, count, ret, err);
		if (r < 0)
			return -1;
		if (r > 0)
			/* A chunk alone: start over with it. All but one: their size stays. */
			parts = *count * 2 <= before ? 2 : parts > 2 ? parts - 1 : 2;
		else if (parts >= *count)
			break;
		else
			parts *= 2;
	}
	return *count <= FEW && try_subsets(s, list, count, ret, err) < 0 ? -1 : 1;
}
