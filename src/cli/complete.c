/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion of a command line: see complete.h.
 *
 * How it works: the line is read as cli_parse reads it, by the same tables. What the word under the
 * cursor is called there, in the row of the option or the command's arguments, says what fits: the
 * names of `names`, or themselves where they are written small.
 */
#include "cli/complete.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/session.h"
#include "wire/reasons.h"

enum kind { KIND_WORDS, KIND_FILES, KIND_DIRS, KIND_PROGRAMS, KIND_COUNT };

static const char *const kind_names[KIND_COUNT] = {"words", "files", "directories", "programs"};

/* The candidates are collected, as the kind of files has to be printed before them. */
struct answer {
	const char *prefix;
	enum kind kind;
	char *text;
};

static void offer(struct answer *a, const char *word, const char *what)
{
	autofree char *before = a->text;

	a->text = NULL;
	if (str_has_prefix(word, a->prefix))
		a->text = str_format("%s%s\t%s\n", before ? before : "", word, what);
	else
		a->text = take_ptr(before);
}

/* ---- what the tables call by a name ---- */

/* The words of commands at `place` of their names, each once; below a group when it is not NULL. */
static void offer_commands(struct answer *a, const char *group)
{
	size_t count, len = group ? strlen(group) : 0;
	const struct cli_command *const *commands = cli_commands(&count);
	const char *last = "";

	for (size_t i = 0; i < count; i++) {
		const char *name = commands[i]->name;
		size_t word = strcspn(name, " ");

		if (group && strncmp(name, group, len) == 0 && name[len] == ' ')
			offer(a, name + len + 1, commands[i]->summary);
		if (group || (strncmp(last, name, word) == 0 && strcspn(last, " ") == word))
			continue;
		autofree char *first = mem_strndup(name, word);
		offer(a, first, name[word] ? "a group of verbs" : commands[i]->summary);
		last = name;
	}
}

static void offer_backends(struct answer *a)
{
	size_t count;
	const struct sandbox_driver *const *drivers = sandbox_drivers(&count);

	for (size_t i = 0; i < count; i++)
		offer(a, drivers[i]->name, drivers[i]->summary);
}

static void offer_reasons(struct answer *a)
{
	for (int r = 0; r < REASON_COUNT; r++)
		offer(a, reason_info((enum reason)r)->code, reason_info((enum reason)r)->why);
}

static int offer_session(void *arg, const struct session_record *r, struct error *err)
{
	(void)err;
	offer(arg, r->id, r->backend);
	return 0;
}

static void offer_sessions(struct answer *a)
{
	auto_session_store struct session_store *s = NULL;
	struct error ignored;

	if (session_store_open(&s, &ignored) == 0 &&
		session_list(s, false, offer_session, a, &ignored) < 0)
		return; /* those found so far */
}

static void offer_topics(struct answer *a)
{
	offer_commands(a, NULL);
}

static const struct {
	const char *name;
	enum kind kind;
	void (*offer)(struct answer *a);
} names[] = {
	{"FILE", KIND_FILES, NULL},
	{"DIR", KIND_DIRS, NULL},
	{"SRC[:DST]", KIND_FILES, NULL},
	{"TAPE", KIND_FILES, NULL},
	{"JOURNAL", KIND_FILES, NULL},
	{"MANIFEST", KIND_FILES, NULL},
	{"ARGUMENT", KIND_FILES, NULL},
	{"ARG", KIND_FILES, NULL},
	{"COMMAND", KIND_PROGRAMS, NULL},
	{"CMD", KIND_PROGRAMS, NULL},
	{"BACKEND", KIND_WORDS, offer_backends},
	{"REASON", KIND_WORDS, offer_reasons},
	{"SESSION", KIND_WORDS, offer_sessions},
	{"TOPIC", KIND_WORDS, offer_topics},
};

/* One of the alternatives that a value or an argument is called by. */
static void offer_called(struct answer *a, const char *called)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (strcmp(names[i].name, called) != 0)
			continue;
		if (names[i].kind != KIND_WORDS)
			a->kind = names[i].kind;
		if (names[i].offer)
			names[i].offer(a);
		return;
	}
	if (called[0] >= 'a' && called[0] <= 'z')
		offer(a, called, "");
}

/* "DIGEST|ROOT...", "[PATH]", "keep|drop": without what is no name. */
static void offer_value(struct answer *a, const char *called)
{
	autofree char *copy = mem_strdup(called);
	char *rest = copy + (copy[0] == '['), *one;
	size_t len = strlen(rest);

	while (len > 0 && (rest[len - 1] == '.' || (rest[len - 1] == ']' && copy[0] == '[')))
		rest[--len] = '\0';
	while ((one = strsep(&rest, "|")))
		offer_called(a, one);
}

/* The n-th argument of the command; the last of them may be repeated. */
static void offer_argument(struct answer *a, const struct cli_command *c, size_t n)
{
	autofree char *copy = mem_strdup(c->arguments);
	char *rest = copy, *word, *last = NULL;

	while ((word = strsep(&rest, " "))) {
		if (!*word || strcmp(word, "--") == 0 || strcmp(word, "[--]") == 0)
			continue;
		last = word;
		if (n-- == 0)
			break;
	}
	if (!last || (!word && !strstr(last, "...")))
		return;
	/* Ids are of sessions wherever they are an argument. */
	offer_value(a, str_has_prefix(last, "ID") ? "SESSION" : last);
}

static void offer_options(struct answer *a, const struct cli_command *c)
{
	for (const struct cli_option *o = c->options; o->name; o++) {
		autofree char *word = str_format("--%s", o->name);

		offer(a, word, o->help);
	}
	offer(a, "--json", "the result as one line of JSON");
	offer(a, "--help", "about this command");
}

/* The option that takes the next word, or NULL. */
static const struct cli_option *waiting(const struct cli_command *c, const char *word)
{
	for (const struct cli_option *o = c->options; o->name; o++)
		if (strcmp(word + 2, o->name) == 0)
			return o->kind == CLI_FLAG ? NULL : o;
	return NULL;
}

static void complete_command(struct answer *a, const struct cli_command *c, char *const *words)
{
	bool only_words = false;
	size_t count = 0;

	for (; words[1]; words++) {
		const struct cli_option *o = NULL;

		only_words = only_words || (count && !c->interleaved);
		if (only_words || (*words)[0] != '-') {
			count++;
			continue;
		}
		if (strcmp(*words, "--") == 0)
			only_words = true;
		else if (str_has_prefix(*words, "--"))
			o = waiting(c, *words);
		if (o && !words[2]) {
			offer_value(a, o->value);
			return;
		}
		words += o != NULL;
	}
	only_words = only_words || (count && !c->interleaved);
	if (!only_words && words[0][0] == '-')
		offer_options(a, c);
	else
		offer_argument(a, c, count);
}

void complete_words(char *const *words)
{
	struct answer a = {.prefix = ""};
	const struct cli_command *c;
	size_t used, pos = 0;

	for (size_t i = 0; words[i]; i++)
		a.prefix = words[i];
	if (!words[0] || !words[1]) {
		offer_commands(&a, NULL);
		offer(&a, "--help", "all commands");
		offer(&a, "--version", "the version");
	} else if (!words[2] && cli_next_of_group(words[0], &pos)) {
		offer_commands(&a, words[0]);
		/* A command that has verbs besides. */
		c = cli_find((char *const[]){words[0], NULL}, &used);
		if (c)
			complete_command(&a, c, words + used);
	} else if ((c = cli_find(words, &used)) && words[used]) {
		if (strcmp(c->name, "help") == 0 && words[2])
			offer_commands(&a, words[1]);
		else
			complete_command(&a, c, words + used);
	}
	printf("%s\n%s", kind_names[a.kind], a.text ? a.text : "");
	mem_cleanup(&a.text);
}
