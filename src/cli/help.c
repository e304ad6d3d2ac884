/* SPDX-License-Identifier: Apache-2.0 */
/* Help texts, made from the tables of commands and options. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "run/run.h"

enum { LEFT = 26, WIDTH = 96 };

/* Words of text from column LEFT on, wrapped; the cursor stands at column `at`. */
static void print_wrapped(const char *text, int at)
{
	int column = at;

	for (const char *p = text; *p;) {
		int len = (int)strcspn(p, " ");

		if (column > LEFT && column + 1 + len > WIDTH) {
			printf("\n%*s", LEFT, "");
			column = LEFT;
		} else if (column < LEFT) {
			printf("%*s", LEFT - column, "");
			column = LEFT;
		} else if (column > LEFT) {
			putchar(' ');
			column++;
		}
		printf("%.*s", len, p);
		column += len;
		p += len;
		while (*p == ' ')
			p++;
	}
	putchar('\n');
}

static void print_option(const char *name, const char *value, const char *help)
{
	int n = printf("  --%s%s%s", name, value ? " " : "", value ? value : "");

	if (n >= LEFT - 1) {
		putchar('\n');
		n = 0;
	}
	print_wrapped(help, n);
}

void cli_help(const struct cli_command *c)
{
	printf("Usage: sandglass %s %s%s%s\n\n%s.\n\nOptions:\n", c->name,
		c->options->name ? "[OPTION...]" : "[--json]", c->arguments[0] ? " " : "",
		c->arguments, c->summary);
	for (const struct cli_option *o = c->options; o->name; o++)
		print_option(o->name, o->value, o->help);
	print_option("json", NULL, "the result as one line of JSON");
	print_option("help", NULL, "this text");
	if (c->details)
		printf("\n%s", c->details);
}

static void print_row(const struct cli_command *c)
{
	print_wrapped(c->summary, printf("  %s ", c->name));
}

bool cli_help_group(const char *group)
{
	const struct cli_command *c;
	size_t pos = 0, found = 0;

	while ((c = cli_next_of_group(group, &pos))) {
		if (found++ == 0)
			printf("Usage: sandglass %s VERB [OPTION...] [ARGUMENT...]\n\nVerbs:\n",
				group);
		print_row(c);
	}
	if (found)
		printf("\n'sandglass %s VERB --help' tells about one.\n", group);
	return found > 0;
}

void cli_help_all(void)
{
	size_t count;
	const struct cli_command *const *commands = cli_commands(&count);

	printf("Usage: sandglass COMMAND [OPTION...] [ARGUMENT...]\n\n"
	       "Runs a program in a sealed world whose clock, randomness and input it holds, so "
	       "that the\n"
	       "same run gives the same bytes twice.\n\nCommands:\n");
	for (size_t i = 0; i < count; i++)
		print_row(commands[i]);
	printf("\n'sandglass COMMAND --help' tells about one. For a start:\n\n"
	       "  sandglass run --verify -- sh -c 'date; sleep 3600; date; cat "
	       "/proc/sys/kernel/random/uuid'\n");
}

void cli_say(const char *line)
{
	fflush(stdout);
	fprintf(stderr, "sandglass: %s%s", line, run_is_raw() ? "\r\n" : "\n");
}

int cli_fail(const struct error *err, int status)
{
	cli_say(err->msg);
	return status;
}
