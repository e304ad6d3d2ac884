/* SPDX-License-Identifier: Apache-2.0 */
/* Forced switches as text: see switches.h. */
#include "run/switches.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/str.h"

static int by_place(const void *a, const void *b)
{
	const struct contract_switch *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return x->point < y->point ? -1 : x->point > y->point;
}

void switches_sort(struct contract_switch *list, size_t count)
{
	if (count)
		qsort(list, count, sizeof(*list), by_place);
}

/* The number before `end`. */
static int take_number(const char **at, size_t len, uint64_t max, uint64_t *ret, struct error *err)
{
	autofree char *text = mem_strndup(*at, len);

	if (num_parse_u64(text, max, ret, err) < 0)
		return -1;
	*at += len;
	return 0;
}

static int parse_one(const char *text, struct contract_switch *ret, struct error *err)
{
	uint64_t task, point, steps = 0, next;
	const char *at = text;
	size_t len = strcspn(at, ":");

	if (at[len] != ':' || take_number(&at, len, UINT32_MAX, &task, err) < 0)
		return -1;
	at++;
	len = strcspn(at, "+:");
	if (take_number(&at, len, UINT64_MAX, &point, err) < 0)
		return -1;
	if (*at == '+') {
		at++;
		len = strcspn(at, ":");
		if (take_number(&at, len, CONTRACT_STEPS_MAX - 1, &steps, err) < 0)
			return -1;
		steps++;
	}
	if (*at != ':' || num_parse_u64(at + 1, UINT32_MAX, &next, err) < 0)
		return -1;
	*ret = (struct contract_switch){.task = (uint32_t)task,
		.point = point,
		.steps = (uint32_t)steps,
		.next = (uint32_t)next};
	return task && point && next ? 0 : -1;
}

int switches_parse(const char *text, struct contract *c, struct error *err)
{
	size_t count = 1;

	for (const char *p = text; *p; p++)
		count += *p == ',';
	if (count > CONTRACT_SWITCHES_MAX)
		return error_set(err, ERR_LIMIT, "--switches: %zu switches; the limit is %d", count,
			CONTRACT_SWITCHES_MAX);
	c->switches = mem_array(count, sizeof(*c->switches));
	for (const char *p = text; c->switch_count < count;) {
		size_t len = strcspn(p, ",");
		autofree char *one = mem_strndup(p, len);
		struct error ignored;

		if (parse_one(one, &c->switches[c->switch_count++], &ignored) < 0) {
			autofree char *safe = str_printable(one, len, 60);

			return error_set(err, ERR_USAGE,
				"--switches: '%s' is not TASK:POINT:NEXT or TASK:POINT+N:NEXT",
				safe);
		}
		p += len + (p[len] == ',');
	}
	switches_sort(c->switches, c->switch_count);
	for (size_t i = 1; i < c->switch_count; i++)
		if (by_place(&c->switches[i - 1], &c->switches[i]) == 0)
			return error_set(err, ERR_USAGE,
				"--switches: two switches at point %" PRIu64 " of task %u",
				c->switches[i].point, c->switches[i].task);
	return 0;
}

void switch_format(const struct contract_switch *s, char ret_text[SWITCH_TEXT])
{
	if (s->steps)
		snprintf(ret_text, SWITCH_TEXT, "%u:%" PRIu64 "+%u:%u", s->task, s->point,
			s->steps - 1, s->next);
	else
		snprintf(ret_text, SWITCH_TEXT, "%u:%" PRIu64 ":%u", s->task, s->point, s->next);
}

char *switches_text(const struct contract_switch *list, size_t count)
{
	auto_bytes struct bytes b = {0};

	for (size_t i = 0; i < count; i++) {
		char text[SWITCH_TEXT];

		switch_format(&list[i], text);
		if (i)
			bytes_put(&b, ",", 1);
		bytes_put(&b, text, strlen(text));
	}
	bytes_put_u8(&b, 0);
	return mem_strndup((const char *)b.data, b.len - 1);
}
