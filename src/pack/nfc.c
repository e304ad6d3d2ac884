/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Normalization Form C: see nfc.h.
 *
 * How it works. The text is decomposed, its marks are put in their order, it is composed again, and
 * what comes out is compared with what went in. Hangul is computed (Unicode 3.12).
 */
#include "pack/nfc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/mem.h"

static const struct {
	uint32_t first, last;
	uint8_t number;
} classes[] = {
#define CLASS(first, last, number) {first, last, number},
#include "pack/nfc.def"
};

static const struct pair {
	uint32_t code, first, second;
} pairs[] = {
#define PAIR(code, first, second) {code, first, second},
#include "pack/nfc.def"
};

static const uint32_t one_way[] = {
#define ONE_WAY(code) code,
#include "pack/nfc.def"
};

enum {
	S_BASE = 0xac00,
	L_BASE = 0x1100,
	V_BASE = 0x1161,
	T_BASE = 0x11a7,
	L_COUNT = 19,
	V_COUNT = 21,
	T_COUNT = 28,
	S_COUNT = L_COUNT * V_COUNT * T_COUNT
};

static uint8_t class_of(uint32_t c)
{
	size_t low = 0, high = ARRAY_LEN(classes);

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (c < classes[mid].first)
			high = mid;
		else if (c > classes[mid].last)
			low = mid + 1;
		else
			return classes[mid].number;
	}
	return 0;
}

static const struct pair *pair_of(uint32_t c)
{
	size_t low = 0, high = ARRAY_LEN(pairs);

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (c == pairs[mid].code)
			return &pairs[mid];
		if (c < pairs[mid].code)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

struct points {
	uint32_t *at;
	size_t count, room;
};

static void put(struct points *p, uint32_t c)
{
	if (p->count == p->room) {
		p->room = p->room * 2 + 64;
		p->at = mem_grow(p->at, p->room, sizeof(*p->at));
	}
	p->at[p->count++] = c;
}

static void points_finish(struct points *p)
{
	free(p->at);
}
#define auto_points CLEANUP(points_finish)

static void decode(const char *text, size_t len, struct points *ret)
{
	for (size_t i = 0; i < len;) {
		unsigned char b = (unsigned char)text[i++];
		unsigned more = b < 0x80 ? 0 : b < 0xe0 ? 1 : b < 0xf0 ? 2 : 3;
		uint32_t c = more ? b & (0x3fu >> more) : b;

		for (; more && i < len; more--)
			c = c << 6 | ((unsigned char)text[i++] & 0x3f);
		put(ret, c);
	}
}

static void decompose(uint32_t c, struct points *ret)
{
	uint32_t tail[32];
	const struct pair *p;
	size_t count = 0;

	if (c - S_BASE < S_COUNT) {
		uint32_t s = c - S_BASE;

		put(ret, L_BASE + s / (V_COUNT * T_COUNT));
		put(ret, V_BASE + s % (V_COUNT * T_COUNT) / T_COUNT);
		if (s % T_COUNT)
			put(ret, T_BASE + s % T_COUNT);
		return;
	}
	/* The first part may have parts itself, the second never has. */
	for (; (p = pair_of(c)) && count < ARRAY_LEN(tail); c = p->first)
		tail[count++] = p->second;
	put(ret, c);
	while (count > 0)
		if (tail[--count])
			put(ret, tail[count]);
}

/* Marks between two starters by their class, those of one class as they came. */
static void order(struct points *p)
{
	for (size_t i = 1; i < p->count; i++) {
		uint32_t c = p->at[i];
		uint8_t number = class_of(c);
		size_t j = i;

		if (!number)
			continue;
		for (; j > 0 && class_of(p->at[j - 1]) > number; j--)
			p->at[j] = p->at[j - 1];
		p->at[j] = c;
	}
}

static bool is_one_way(uint32_t c)
{
	for (size_t i = 0; i < ARRAY_LEN(one_way); i++)
		if (one_way[i] == c)
			return true;
	return false;
}

/* What the two make together, or 0. */
static uint32_t composed(uint32_t a, uint32_t b)
{
	if (a - L_BASE < L_COUNT && b - V_BASE < V_COUNT)
		return S_BASE + ((a - L_BASE) * V_COUNT + (b - V_BASE)) * T_COUNT;
	if (a - S_BASE < S_COUNT && (a - S_BASE) % T_COUNT == 0 && b > T_BASE &&
		b < T_BASE + T_COUNT)
		return a + (b - T_BASE);
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		if (pairs[i].first == a && pairs[i].second == b && !is_one_way(pairs[i].code))
			return pairs[i].code;
	return 0;
}

static void compose(struct points *p)
{
	size_t starter = SIZE_MAX, kept = 0;
	uint8_t last = 0;

	for (size_t i = 0; i < p->count; i++) {
		uint32_t c = p->at[i], one;
		uint8_t number = class_of(c);
		bool is_blocked = starter == SIZE_MAX ||
				  (kept > starter + 1 && (last == 0 || last >= number));

		one = is_blocked ? 0 : composed(p->at[starter], c);
		if (one) {
			p->at[starter] = one;
			continue;
		}
		if (number == 0)
			starter = kept;
		last = number;
		p->at[kept++] = c;
	}
	p->count = kept;
}

bool nfc_is(const char *text, size_t len)
{
	auto_points struct points given = {0}, made = {0};
	size_t i = 0;

	while (i < len && (unsigned char)text[i] < 0x80)
		i++;
	if (i == len)
		return true;
	decode(text, len, &given);
	for (i = 0; i < given.count; i++)
		decompose(given.at[i], &made);
	order(&made);
	compose(&made);
	return made.count == given.count &&
	       memcmp(made.at, given.at, sizeof(*made.at) * made.count) == 0;
}
