/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOML: values, tables and what closes them. See toml.h.
 *
 * How it works. Beside the tree that is read grows a tree of marks, by path: a header marks its
 * path, an array or inline table freezes its own with all below. Keys with dots count as headers
 * of their middle parts from the next header on, since until then more of them may follow.
 */
#include "pack/toml.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "pack/toml_inside.h"

json_t *toml_nest(json_t *at, char *const *path, size_t count, bool through_arrays)
{
	for (size_t i = 0; i < count; i++) {
		json_t *next = json_object_get(at, path[i]);

		if (!next) {
			next = json_object();
			json_put(at, path[i], next);
		}
		if (through_arrays && json_is_array(next))
			next = json_array_get(next, json_array_size(next) - 1);
		if (!json_is_object(next))
			return NULL;
		at = next;
	}
	return at;
}

/* A node of marks: {"own": bits, "all": bits, "in": {name: node}}. */
static bool has(const json_t *node, const char *key, enum toml_mark mark)
{
	return (json_integer_value(json_object_get(node, key)) & mark) != 0;
}

bool toml_is_marked(const json_t *marks, char *const *path, size_t count, enum toml_mark mark)
{
	const json_t *node = marks;

	if (count == 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		node = json_object_get(json_object_get(node, "in"), path[i]);
		if (!node)
			return false;
		if (has(node, "all", mark))
			return true;
	}
	return has(node, "own", mark);
}

void toml_mark(json_t *marks, char *const *path, size_t count, enum toml_mark mark)
{
	const char *key = mark == TOML_FROZEN ? "all" : "own";
	json_t *node = marks;

	for (size_t i = 0; i < count; i++) {
		char in[] = "in", *const step[] = {in, path[i]};

		node = toml_nest(node, step, 2, false);
	}
	json_put(node, key,
		json_integer(json_integer_value(json_object_get(node, key)) | (json_int_t)mark));
}

void toml_unmark_all(json_t *marks, char *const *path, size_t count)
{
	json_t *node = marks;

	for (size_t i = 0; i + 1 < count && node; i++)
		node = json_object_get(json_object_get(node, "in"), path[i]);
	if (node)
		json_object_del(json_object_get(node, "in"), path[count - 1]);
}

/* Blanks, newlines and comments between the elements of an array. */
static int skip_space(struct toml *t)
{
	for (;;) {
		toml_skip_blanks(t);
		if (toml_skip_comment(t) < 0)
			return -1;
		if (*t->pos != '\n')
			return 0;
		t->pos++;
	}
}

static int array_value(struct toml *t, unsigned depth, json_t **ret)
{
	auto_json json_t *array = json_array();

	t->pos++;
	for (;;) {
		json_t *item = NULL;

		if (skip_space(t) < 0)
			return -1;
		if (*t->pos == ']')
			break;
		if (toml_value(t, depth + 1, &item) < 0)
			return -1;
		json_add(array, item);
		if (skip_space(t) < 0)
			return -1;
		if (*t->pos != ',' && *t->pos != ']')
			return toml_wrong(t, "an array without an end");
		t->pos += *t->pos == ',';
	}
	t->pos++;
	*ret = take_ptr(array);
	return 0;
}

/* KEY = VALUE. */
static int pair(struct toml *t, unsigned depth, struct toml_key *ret_key, json_t **ret)
{
	if (toml_key(t, ret_key) < 0)
		return -1;
	if (*t->pos != '=')
		return toml_wrong(t, "'=' was expected after a key");
	t->pos++;
	toml_skip_blanks(t);
	return toml_value(t, depth, ret);
}

/* Puts value (taken) where nothing may be yet. */
static int put_new(const struct toml *t, json_t *table, const char *key, json_t *value)
{
	if (!table || json_object_get(table, key)) {
		json_decref(value);
		return toml_wrong(t, "a key that has a value already");
	}
	json_put(table, key, value);
	return 0;
}

static int inline_pair(struct toml *t, unsigned depth, json_t *table, json_t *marks)
{
	auto_toml_key struct toml_key k = {0};
	json_t *value = NULL;
	bool closes;

	if (pair(t, depth + 1, &k, &value) < 0)
		return -1;
	closes = json_is_object(value) || json_is_array(value);
	if (toml_is_marked(marks, k.part, k.count, TOML_FROZEN)) {
		json_decref(value);
		return toml_wrong(t, "a table that is closed is written to");
	}
	if (put_new(t, toml_nest(table, k.part, k.count - 1, false), k.part[k.count - 1], value) <
		0)
		return -1;
	if (closes)
		toml_mark(marks, k.part, k.count, TOML_FROZEN);
	return 0;
}

static int inline_table(struct toml *t, unsigned depth, json_t **ret)
{
	auto_json json_t *table = json_object(), *marks = json_object();

	t->pos++;
	toml_skip_blanks(t);
	if (*t->pos != '}')
		for (;;) {
			if (inline_pair(t, depth, table, marks) < 0)
				return -1;
			toml_skip_blanks(t);
			if (*t->pos != ',')
				break;
			t->pos++;
			toml_skip_blanks(t);
		}
	if (*t->pos != '}')
		return toml_wrong(t, "an inline table without an end");
	t->pos++;
	*ret = take_ptr(table);
	return 0;
}

static int string_value(struct toml *t, json_t **ret)
{
	auto_bytes struct bytes text = {0};

	if (toml_string(t, true, &text) < 0)
		return -1;
	*ret = json_stringn(text.len ? (const char *)text.data : "", text.len);
	return 0;
}

int toml_value(struct toml *t, unsigned depth, json_t **ret)
{
	int found;

	if (depth > TOML_DEPTH_MAX)
		return toml_wrong(t, "values nested too deeply");
	if (*t->pos == '"' || *t->pos == '\'')
		return string_value(t, ret);
	if (*t->pos == '[')
		return array_value(t, depth, ret);
	if (*t->pos == '{')
		return inline_table(t, depth, ret);
	if (strncmp(t->pos, "true", 4) == 0 || strncmp(t->pos, "false", 5) == 0) {
		*ret = json_boolean(*t->pos == 't');
		t->pos += *t->pos == 't' ? 4 : 5;
		return 0;
	}
	found = toml_number(t, ret);
	if (found == 0)
		return toml_wrong(t, "a value was expected");
	return found < 0 ? -1 : 0;
}

struct reading {
	json_t *root, *marks, *waiting; /* waiting: paths to be marked at the next header */
	struct toml_key header;
};

static void reading_finish(struct reading *r)
{
	json_decref(r->root);
	json_decref(r->marks);
	json_decref(r->waiting);
	toml_key_finish(&r->header);
}

static void mark_waiting(struct reading *r)
{
	json_t *path;
	size_t i, j;

	json_array_foreach(r->waiting, i, path)
	{
		const char *part[2 * TOML_DEPTH_MAX] = {NULL};
		char *steps[2 * TOML_DEPTH_MAX];

		for (j = 0; j < json_array_size(path); j++)
			part[j] = json_string_value(json_array_get(path, j));
		/* Nobody writes to them. */
		memcpy(steps, part, sizeof(*steps) * j);
		toml_mark(r->marks, steps, j, TOML_HEADED);
	}
	json_array_clear(r->waiting);
}

/* The header's path and then the first `count` parts of a key. */
static size_t whole_path(
	const struct reading *r, const struct toml_key *k, size_t count, char **ret)
{
	memcpy(ret, r->header.part, sizeof(*ret) * r->header.count);
	memcpy(ret + r->header.count, k->part, sizeof(*ret) * count);
	return r->header.count + count;
}

static int check_middle(struct toml *t, struct reading *r, const struct toml_key *k)
{
	char *path[2 * TOML_DEPTH_MAX];

	for (size_t n = 1; n < k->count; n++) {
		size_t count = whole_path(r, k, n, path);
		json_t *names;

		if (toml_is_marked(r->marks, path, count, TOML_HEADED))
			return toml_wrong(
				t, "a table that has a header is written to from elsewhere");
		names = json_array();
		for (size_t i = 0; i < count; i++)
			json_add(names, json_string(path[i]));
		json_add(r->waiting, names);
	}
	return 0;
}

static int key_line(struct toml *t, struct reading *r)
{
	auto_toml_key struct toml_key k = {0};
	char *path[2 * TOML_DEPTH_MAX];
	json_t *value = NULL;
	size_t count;
	bool closes;

	if (pair(t, 0, &k, &value) < 0)
		return -1;
	closes = json_is_object(value) || json_is_array(value);
	count = whole_path(r, &k, k.count, path);
	if (check_middle(t, r, &k) < 0) {
		json_decref(value);
		return -1;
	}
	if (toml_is_marked(r->marks, path, count - 1, TOML_FROZEN)) {
		json_decref(value);
		return toml_wrong(t, "a table that is closed is written to");
	}
	if (put_new(t, toml_nest(r->root, path, count - 1, true), path[count - 1], value) < 0)
		return -1;
	if (closes)
		toml_mark(r->marks, path, count, TOML_FROZEN);
	return 0;
}

static int open_table(struct toml *t, struct reading *r)
{
	struct toml_key *k = &r->header;

	if (toml_is_marked(r->marks, k->part, k->count, TOML_HEADED) ||
		toml_is_marked(r->marks, k->part, k->count, TOML_FROZEN))
		return toml_wrong(t, "a table is declared twice");
	toml_mark(r->marks, k->part, k->count, TOML_HEADED);
	if (!toml_nest(r->root, k->part, k->count, true))
		return toml_wrong(t, "a table in the place of a value");
	return 0;
}

static int open_array(struct toml *t, struct reading *r)
{
	struct toml_key *k = &r->header;
	const char *last = k->part[k->count - 1];
	json_t *in, *array;

	if (toml_is_marked(r->marks, k->part, k->count, TOML_FROZEN))
		return toml_wrong(t, "an array that is closed is added to");
	toml_unmark_all(r->marks, k->part, k->count);
	toml_mark(r->marks, k->part, k->count, TOML_HEADED);
	in = toml_nest(r->root, k->part, k->count - 1, true);
	array = in ? json_object_get(in, last) : NULL;
	if (in && !array) {
		array = json_array();
		json_put(in, last, array);
	}
	if (!json_is_array(array))
		return toml_wrong(t, "an array of tables in the place of a value");
	json_add(array, json_object());
	return 0;
}

static int header_line(struct toml *t, struct reading *r)
{
	bool is_array = t->pos[1] == '[';

	mark_waiting(r);
	toml_key_finish(&r->header);
	t->pos += is_array ? 2 : 1;
	toml_skip_blanks(t);
	if (toml_key(t, &r->header) < 0)
		return -1;
	if (*t->pos != ']' || (is_array && t->pos[1] != ']'))
		return toml_wrong(t, "a table's name without its end");
	t->pos += is_array ? 2 : 1;
	return (is_array ? open_array : open_table)(t, r);
}

static int read_lines(struct toml *t, struct reading *r)
{
	while (t->pos < t->end) {
		toml_skip_blanks(t);
		if (*t->pos == '[') {
			if (header_line(t, r) < 0)
				return -1;
		} else if (*t->pos != '#' && *t->pos != '\n' && t->pos < t->end) {
			if (key_line(t, r) < 0)
				return -1;
		}
		toml_skip_blanks(t);
		if (toml_skip_comment(t) < 0)
			return -1;
		if (t->pos < t->end && *t->pos != '\n')
			return toml_wrong(t, "more on the line than belongs there");
		t->pos += t->pos < t->end;
	}
	return 0;
}

int toml_parse(const char *text, size_t len, json_t **ret, struct error *err)
{
	struct reading CLEANUP(reading_finish) r = {0};
	autofree char *copy = NULL;
	struct toml t;
	size_t n = 0;

	if (len > TOML_MAX)
		return error_set(err, ERR_LIMIT, "%zu bytes; the limit is %d", len, TOML_MAX);
	if (len && !str_is_utf8(text, len))
		return error_set(err, ERR_FORMAT, "not UTF-8");
	/* The other form of a line's end is read as the one; what room is left stays NUL. */
	copy = mem_alloc(len + 8);
	for (size_t i = 0; i < len; i++)
		if (text[i] != '\r' || i + 1 == len || text[i + 1] != '\n')
			copy[n++] = text[i];
	t = (struct toml){.start = copy, .pos = copy, .end = copy + n, .err = err};
	r = (struct reading){json_object(), json_object(), json_array(), {{NULL}, 0}};
	if (read_lines(&t, &r) < 0)
		return -1;
	*ret = take_ptr(r.root);
	return 0;
}
