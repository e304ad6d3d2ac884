/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a command line by a command's table of options: see cli.h. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/str.h"
#include "run/options.h"

enum { NAMES_MAX = 64 };

const char *cli_nearest(const char *word, const char *const *names, size_t count)
{
	const char *best = NULL;
	unsigned least = 3;

	for (size_t i = 0; i < count; i++) {
		unsigned far = str_distance(word, names[i]);

		if (strlen(word) >= 3 && str_has_prefix(names[i], word))
			far = 1;
		/* A short word is near only to what it nearly is. */
		if (far < least && far < strlen(names[i])) {
			least = far;
			best = names[i];
		}
	}
	return best;
}

static const struct cli_option json_option = {"json", CLI_FLAG, NULL, "", 0};

static const struct cli_option *find_option(
	const struct cli_command *c, const char *name, size_t len)
{
	for (const struct cli_option *o = c->options; o->name; o++)
		if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
			return o;
	return len == 4 && memcmp(name, "json", 4) == 0 ? &json_option : NULL;
}

static int unknown_option(
	const struct cli_command *c, const char *word, size_t len, struct error *err)
{
	autofree char *name = mem_strndup(word, len), *safe = str_printable(word, len, 60);
	const char *names[NAMES_MAX] = {"json", "help"}, *near;
	size_t count = 2;

	for (const struct cli_option *o = c->options; o->name && count < NAMES_MAX; o++)
		names[count++] = o->name;
	near = cli_nearest(name, names, count);
	if (near)
		return error_set(
			err, ERR_USAGE, "unknown option '--%s'; did you mean '--%s'?", safe, near);
	return error_set(
		err, ERR_USAGE, "unknown option '--%s'; see 'sandglass %s --help'", safe, c->name);
}

static void add_item(struct run_list *list, const char *text)
{
	list->items = mem_grow(list->items, list->count + 1, sizeof(*list->items));
	list->items[list->count++] = text;
}

static int set_value(const struct cli_option *o, const char *text, void *at, struct error *err)
{
	const char **words = at;
	uint64_t *number = at;
	int r = 0;

	switch (o->kind) {
	case CLI_FLAG:
		*(bool *)at = true;
		break;
	case CLI_TEXT:
		*words = text;
		break;
	case CLI_LIST:
		add_item(at, text);
		break;
	case CLI_NUMBER:
		r = num_parse_u64(text, UINT32_MAX, number, err);
		break;
	case CLI_SIZE:
		r = num_parse_size(text, number, err);
		break;
	case CLI_DURATION:
		r = num_parse_duration(text, number, err);
		break;
	}
	if (r < 0)
		return error_wrap(err, "--%s", o->name);
	if (o->kind >= CLI_NUMBER && *number == 0)
		return error_set(err, ERR_USAGE, "--%s 0: it has to be more than zero", o->name);
	return 0;
}

int cli_parse(
	const struct cli_command *c, char **argv, void *values, char ***ret_rest, struct error *err)
{
	char *base = values, **word = argv;
	bool help = false;

	*ret_rest = argv;
	for (; *argv; argv++) {
		const char *name, *text;
		const struct cli_option *o;
		size_t len;

		if ((*argv)[0] != '-' || !(*argv)[1]) {
			if (!c->interleaved)
				break;
			*word++ = *argv;
			continue;
		}
		if (strcmp(*argv, "--") == 0) {
			argv++;
			break;
		}
		name = *argv + 2;
		text = strchr(name, '=');
		len = text ? (size_t)(text - name) : strlen(name);
		if (strcmp(*argv, "-h") == 0 || strcmp(*argv, "--help") == 0) {
			help = true;
			continue;
		}
		if ((*argv)[1] != '-') {
			autofree char *safe = str_printable(*argv, strlen(*argv), 60);

			return error_set(err, ERR_USAGE,
				"unknown option '%s': options are whole words, like --help", safe);
		}
		o = find_option(c, name, len);
		if (!o)
			return unknown_option(c, name, len, err);
		if (o->kind == CLI_FLAG && text)
			return error_set(err, ERR_USAGE, "--%s takes no value", o->name);
		if (o->kind != CLI_FLAG && !text && !argv[1])
			return error_set(
				err, ERR_USAGE, "--%s needs a value: %s", o->name, o->value);
		if (o->kind != CLI_FLAG)
			text = text ? text + 1 : *++argv;
		if (set_value(o, text, base + (o == &json_option ? c->json : o->offset), err) < 0)
			return -1;
	}
	while (*argv)
		*word++ = *argv++;
	*word = NULL;
	return help;
}

void cli_values_finish(const struct cli_command *c, void *values)
{
	for (const struct cli_option *o = c->options; o->name; o++)
		if (o->kind == CLI_LIST)
			free(((struct run_list *)((char *)values + o->offset))->items);
}
