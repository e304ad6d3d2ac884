/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of members: see members.h. */
#include "replicate/members.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

void members_fault(struct members *m, const char *what)
{
	violations_add(m->faults, "%s: %s", m->path[0] ? m->path : "the manifest", what);
}

struct members_mark members_enter(struct members *m, const char *name)
{
	struct members_mark mark = {m, strlen(m->path)};
	autofree char *safe = str_printable(name, strlen(name), 60);

	snprintf(m->path + mark.len, sizeof(m->path) - mark.len, "%s%s", mark.len ? "." : "", safe);
	return mark;
}

struct members_mark members_enter_item(struct members *m, size_t i)
{
	struct members_mark mark = {m, strlen(m->path)};

	snprintf(m->path + mark.len, sizeof(m->path) - mark.len, "[%zu]", i);
	return mark;
}

void members_leave(struct members_mark *mark)
{
	mark->m->path[mark->len] = '\0';
}

static const struct member *find(const struct member *rows, const char *name)
{
	for (; rows->name; rows++)
		if (strcmp(rows->name, name) == 0)
			return rows;
	return NULL;
}

void members_read(struct members *m, const json_t *v, const struct member *rows)
{
	const char *name;
	json_t *item;

	if (!json_is_object(v)) {
		members_fault(m, "has to be an object");
		return;
	}
	json_object_foreach((json_t *)(uintptr_t)v, name, item)
	{
		const struct member *row = find(rows, name);

		MEMBERS_NAMED(m, name);
		if (row)
			row->take(m, item, row->at);
		else
			members_fault(m, "is no member of this format");
	}
	for (const struct member *row = rows; row->name; row++) {
		MEMBERS_NAMED(m, row->name);
		if (row->needed && !json_object_get(v, row->name))
			members_fault(m, "is missing");
	}
}

bool members_text(struct members *m, const json_t *v, size_t max, char **ret)
{
	const char *text = json_string_value(v);

	if (!text || !text[0] || strlen(text) != json_string_length(v)) {
		members_fault(m, "has to be a string with something in it");
		return false;
	}
	if (strlen(text) > max) {
		members_fault(m, "is too long");
		return false;
	}
	*ret = mem_strdup(text);
	return true;
}

bool members_number(
	struct members *m, const json_t *v, uint64_t least, uint64_t most, uint64_t *ret)
{
	json_int_t n = json_integer_value(v);
	autofree char *what = NULL;

	if (json_is_integer(v) && n >= 0 && (uint64_t)n >= least && (uint64_t)n <= most) {
		*ret = (uint64_t)n;
		return true;
	}
	what = str_format("has to be a whole number from %llu to %llu", (unsigned long long)least,
		(unsigned long long)most);
	members_fault(m, what);
	return false;
}
