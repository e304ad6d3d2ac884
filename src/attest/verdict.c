/* SPDX-License-Identifier: Apache-2.0 */
/* Reasons and what they add up to: see verdict.h. */
#include "attest/verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static const struct {
	const char *code, *meaning;
	enum verdict_class class;
} rows[VERDICT_REASONS] = {
#define X(name, code, class, meaning) {code, meaning, VERDICT_##class},
#include "attest/verdict.def"
#undef X
};

static const struct {
	const char *word;
	int status;
} classes[VERDICT_CLASSES] = {
	[VERDICT_VERIFIED] = {"verified", 0},
	[VERDICT_UNANCHORED] = {"unanchored", 3},
	[VERDICT_INCOMPLETE] = {"incomplete", 5},
	[VERDICT_UNREADABLE] = {"unreadable", 4},
	[VERDICT_FAILED] = {"failed", 1},
};

void verdict_init(struct verdict *v)
{
	*v = (struct verdict){
		.reasons = json_array(), .checked = json_array(), .unchecked = json_array()};
}

void verdict_finish(struct verdict *v)
{
	json_decref(v->reasons);
	json_decref(v->checked);
	json_decref(v->unchecked);
	*v = (struct verdict){0};
}

void verdict_add(struct verdict *v, enum verdict_reason why, const char *fmt, ...)
{
	char text[1024];
	autofree char *safe = NULL;
	json_t *o = json_object();
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	safe = str_printable(text, strlen(text), sizeof(text));
	json_put(o, "code", json_str(rows[why].code));
	json_put(o, "class", json_str(classes[rows[why].class].word));
	json_put(o, "meaning", json_str(rows[why].meaning));
	json_put(o, "detail", json_str(safe));
	json_add(v->reasons, o);
	if (rows[why].class > v->worst)
		v->worst = rows[why].class;
}

static void put(json_t *list, const char *what, const char *digest)
{
	json_t *o = json_object();

	json_put(o, "what", json_str(what));
	json_put(o, "digest", json_str(digest));
	json_add(list, o);
}

void verdict_checked(struct verdict *v, const char *what, const char *digest)
{
	put(v->checked, what, digest);
}

void verdict_unchecked(struct verdict *v, const char *what, const char *digest)
{
	put(v->unchecked, what, digest);
}

const char *verdict_word(enum verdict_class c)
{
	return classes[c].word;
}

int verdict_status(enum verdict_class c)
{
	return classes[c].status;
}
