/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass completion: the shell's completion script, made from the tables. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "codec/json.h"
#include "wire/reasons.h"

struct values {
	bool json;
};

static const struct cli_option options[] = {{0}};

static bool names_file(const char *value)
{
	return strstr(value, "DIR") || strstr(value, "SRC") || strstr(value, "FILE");
}

/* The first words, each once. */
static void write_words(FILE *out)
{
	size_t count;
	const struct cli_command *const *commands = cli_commands(&count);

	for (size_t i = 0; i < count; i++) {
		int len = (int)strcspn(commands[i]->name, " ");

		if (i && strncmp(commands[i - 1]->name, commands[i]->name, (size_t)len + 1) == 0)
			continue; /* the next verb of a group */
		fprintf(out, "%.*s ", len, commands[i]->name);
	}
}

/* A line of `case` for each group: its verbs, and the command of two words. */
static void write_groups(FILE *out)
{
	size_t count;
	const struct cli_command *const *commands = cli_commands(&count);
	const char *group = NULL;

	for (size_t i = 0; i < count; i++) {
		const char *name = commands[i]->name, *space = strchr(name, ' ');

		if (group && (!space || strncmp(group, name, (size_t)(space - name) + 1) != 0)) {
			fprintf(out, "' ;;\n");
			group = NULL;
		}
		if (space && !group)
			fprintf(out, "\t%.*s) verbs='", (int)(space - name), name);
		if (space) {
			fprintf(out, "%s ", space + 1);
			group = name;
		}
	}
	if (group)
		fprintf(out, "' ;;\n");
}

/* Names of the options of a kind: -1 all, 0 with another value than a file, 1 with a file. */
static void write_options(FILE *out, const struct cli_command *c, int kind)
{
	for (const struct cli_option *o = c->options; o->name; o++)
		if (kind < 0 || (o->value && names_file(o->value) == (kind > 0)))
			fprintf(out, "--%s ", o->name);
}

static void write_commands(FILE *out)
{
	size_t count;
	const struct cli_command *const *commands = cli_commands(&count);

	for (size_t i = 0; i < count; i++) {
		fprintf(out, "\t'%s') names='", commands[i]->name);
		write_options(out, commands[i], -1);
		fprintf(out, "--json --help' values=' ");
		write_options(out, commands[i], 0);
		fprintf(out, "' files=' ");
		write_options(out, commands[i], 1);
		fprintf(out, "' ;;\n");
	}
}

static void write_script(FILE *out)
{
	fprintf(out, "# bash completion for sandglass\n"
		     "_sandglass()\n{\n"
		     "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
		     "command=${COMP_WORDS[1]} verbs= names= values= files= i\n"
		     "\tCOMPREPLY=()\n"
		     "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
		     "\t\tCOMPREPLY=($(compgen -W '");
	write_words(out);
	fprintf(out,
		"' -- \"$word\"))\n\t\treturn\n\tfi\n"
		"\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
		"\t\tif [ \"${COMP_WORDS[i]}\" = -- ]; then\n"
		"\t\t\tCOMPREPLY=($(compgen -c -f -- \"$word\"))\n\t\t\treturn\n\t\tfi\n\tdone\n"
		"\tcase $command in\n");
	write_groups(out);
	fprintf(out, "\tesac\n"
		     "\tif [ \"$verbs\" ] && [ \"$COMP_CWORD\" -eq 2 ]; then\n"
		     "\t\tCOMPREPLY=($(compgen -W \"$verbs\" -- \"$word\"))\n\t\treturn\n\tfi\n"
		     "\t[ ! \"$verbs\" ] || command+=\" ${COMP_WORDS[2]}\"\n"
		     "\tcase $command in\n");
	write_commands(out);
	fprintf(out, "\tesac\n"
		     "\tcase $command in\n"
		     "\texplain) names+=' ");
	for (int r = 0; r < REASON_COUNT; r++)
		fprintf(out, "%s ", reason_info((enum reason)r)->code);
	fprintf(out, "' ;;\n\thelp) names+=' ");
	write_words(out);
	fprintf(out, "' ;;\n"
		     "\tcompletion) names+=' bash' ;;\n"
		     "\tesac\n"
		     /* The value of an option is none of the options. */
		     "\tif [[ $values == *\" $before \"* ]]; then\n\t\treturn\n\tfi\n"
		     "\tif [[ $files == *\" $before \"* ]]; then\n"
		     "\t\tCOMPREPLY=($(compgen -f -- \"$word\"))\n\t\treturn\n\tfi\n"
		     "\tCOMPREPLY=($(compgen -W \"$names\" -- \"$word\"))\n"
		     "}\ncomplete -o filenames -F _sandglass sandglass\n");
}

static int run(void *values, char **argv)
{
	const struct values *v = values;
	autofree char *script = NULL, *text = NULL;
	auto_json json_t *value = NULL;
	size_t len = 0;
	FILE *out;

	if (!argv[0] || strcmp(argv[0], "bash") != 0 || argv[1]) {
		cli_say("completion is there for bash: sandglass completion bash");
		return 2;
	}
	if (!v->json) {
		write_script(stdout);
		return 0;
	}
	out = open_memstream(&script, &len);
	if (!out)
		return 2;
	write_script(out);
	fclose(out);
	value = json_object();
	json_put(value, "script", json_str(script));
	text = json_text(value);
	printf("%s\n", text);
	return 0;
}

const struct cli_command command_completion = {
	.name = "completion",
	.arguments = "bash",
	.summary = "Print a completion script for the shell",
	.details = "For this shell:  . <(sandglass completion bash)\n",
	.options = options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run,
	.usage_status = 2,
};
