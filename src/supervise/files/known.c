/* SPDX-License-Identifier: Apache-2.0 */
/* Paths that need no second look: see known.h. A later path takes the place of one with its hash.
 */
#include "supervise/files/known.h"

#include <stdint.h>
#include <string.h>

enum { PLACES = 1024, TEXT_MAX = 119 };

static struct place {
	uint32_t epoch; /* of another one: forgotten */
	uint8_t what;
	char text[TEXT_MAX + 1];
} places[PLACES];
static uint32_t epoch = 1;

/* NULL: none of ours. */
static struct place *place_of(const char *text, size_t *ret_len)
{
	uint32_t h = 0x811c9dc5u; /* FNV-1a */
	size_t len = 0;

	if (text[0] != '/')
		return NULL;
	for (; text[len] != '\0'; len++) {
		if (len == TEXT_MAX)
			return NULL;
		h = (h ^ (unsigned char)text[len]) * 0x01000193u;
	}
	*ret_len = len;
	return &places[(h ^ h >> 16) % PLACES];
}

bool known_is(const char *text, unsigned what)
{
	size_t len;
	const struct place *p = place_of(text, &len);

	return p && p->epoch == epoch && (p->what & what) && memcmp(p->text, text, len + 1) == 0;
}

void known_add(const char *text, unsigned what)
{
	size_t len;
	struct place *p = place_of(text, &len);

	if (!p || what == 0)
		return;
	if (p->epoch != epoch || memcmp(p->text, text, len + 1) != 0) {
		p->epoch = epoch;
		p->what = 0;
		memcpy(p->text, text, len + 1);
	}
	p->what |= (uint8_t)what;
}

void known_forget(void)
{
	epoch++;
}
