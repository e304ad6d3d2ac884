/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that a loop touches: see words.h. */
#include "supervise/spin/words.h"

#include <limits.h>
#include <string.h>

#include "supervise/engine/gmem.h"

static struct word *find(struct words *w, uint64_t addr)
{
	for (unsigned i = 0; i < w->count; i++)
		if (w->word[i].addr == addr)
			return &w->word[i];
	return NULL;
}

static struct word *find_or_read(struct words *w, struct task *t, uint64_t addr)
{
	struct word *word = find(w, addr);

	if (word)
		return word;
	if (w->count == WORDS_MAX)
		return NULL;
	word = &w->word[w->count];
	*word = (struct word){.addr = addr};
	if (gmem_read(t, addr, word->value, sizeof(word->value)) != 0)
		return NULL;
	w->count++;
	return word;
}

bool words_add(struct words *w, struct task *t, const struct arch_access *access)
{
	for (uint32_t i = 0; i < access->len;) {
		uint64_t addr = access->addr + i;
		struct word *word = find_or_read(w, t, addr & ~7ull);

		if (!word)
			return false;
		do {
			uint8_t bit = (uint8_t)(1 << (addr & 7));

			word->used |= bit;
			if (access->store)
				word->stored |= bit;
			else
				word->loaded |= bit;
			addr++;
			i++;
		} while (i < access->len && (addr & 7) != 0);
	}
	return true;
}

static bool is_same(const struct word *word, const unsigned char now[8], uint8_t mask)
{
	for (int i = 0; i < 8; i++)
		if (mask >> i & 1 && word->value[i] != now[i])
			return false;
	return true;
}

unsigned words_moved(const struct words *w, struct task *t, uint64_t *ret_addr)
{
	unsigned count = 0;

	for (unsigned i = 0; i < w->count; i++) {
		const struct word *word = &w->word[i];
		unsigned char now[8];

		if (!word->stored)
			continue;
		if (gmem_read(t, word->addr, now, sizeof(now)) == 0 &&
			is_same(word, now, word->stored))
			continue;
		/* It reads the clock in place: that ends by itself (sched_clock_reads). */
		if (word->addr == ARCH_COUNTER_PAGE)
			return UINT_MAX;
		if (count++ == 0 || word->addr < *ret_addr)
			*ret_addr = word->addr;
	}
	return count;
}

/* Below it what a leaf keeps there, above it the frames of a loop that calls others. */
static bool is_on_stack(uint64_t addr, uint64_t sp)
{
	enum { BELOW = 128, ABOVE = 65536 };

	return addr + BELOW >= sp && addr < sp + ABOVE;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	return (h ^ v) * 0x100000001b3; /* FNV-1a, eight bytes at once */
}

/* Of the bytes that the loop reads and does not write: the same wherever in its round it stands. */
static uint64_t key_of(const struct word *word)
{
	unsigned mask = word->loaded & ~(unsigned)word->stored;
	uint64_t h = mix(0xcbf29ce484222325, word->addr);

	for (int b = 0; b < 8; b++)
		if (mask >> b & 1)
			h = mix(h, word->value[b]);
	return mask ? h : 0;
}

enum words_awaited words_awaited(
	const struct words *w, struct task *t, uint64_t sp, uint64_t *ret_addr, uint64_t *ret_key)
{
	enum words_awaited best = WORDS_NONE;

	*ret_key = 0;
	for (unsigned i = 0; i < w->count; i++) {
		const struct word *word = &w->word[i];
		enum words_awaited kind =
			is_on_stack(word->addr, sp) ? WORDS_STACK : WORDS_ELSEWHERE;
		unsigned char now[8];

		if (!word->loaded || gmem_read(t, word->addr, now, sizeof(now)) != 0 ||
			!is_same(word, now, word->loaded))
			continue;
		*ret_key += key_of(word); /* a sum: the walk may have begun at any of them */
		if (kind > best) {
			best = kind;
			*ret_addr = word->addr;
		}
	}
	return best;
}

bool words_refresh(struct words *w, struct task *t)
{
	for (unsigned i = 0; i < w->count; i++)
		if (gmem_read(t, w->word[i].addr, w->word[i].value, 8) != 0)
			return false;
	return true;
}

bool words_are_same(const struct words *w, struct task *t)
{
	for (unsigned i = 0; i < w->count; i++) {
		const struct word *word = &w->word[i];
		unsigned char now[8];

		if (gmem_read(t, word->addr, now, sizeof(now)) != 0 ||
			!is_same(word, now, word->used))
			return false;
		/* Somebody may have made it read-only: then the loop's store is a signal. */
		if (word->stored && gmem_write(t, word->addr, now, sizeof(now)) != 0)
			return false;
	}
	return true;
}
