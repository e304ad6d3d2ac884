/* SPDX-License-Identifier: Apache-2.0 */
/* A tape read from end to end: see check.h. */
#include "tape/check.h"

#include <stdio.h>

int tape_check(struct tape_reader *r, struct tape_check *ret, struct error *err)
{
	struct tape_check c = {0};
	struct tape_record record;
	const char *damage;
	int got;

	/* A tape without records has none to go to. */
	if (tape_seek(r, 1, err) < 0)
		return -1;
	while ((got = tape_next(r, &record, err)) > 0) {
		if (c.records++ == 0)
			c.first_ns = record.now_ns;
		c.last_ns = record.now_ns;
		c.payload_bytes += record.len;
		c.by_kind[record.kind]++;
	}
	if (got < 0)
		return -1;
	damage = tape_damage(r, &c.damage_at);
	snprintf(c.damage, sizeof(c.damage), "%s", damage ? damage : "");
	*ret = c;
	return 0;
}
