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

static bool is_path(const struct cli_option *o)
{
	return strstr(o->value, "DIR") || strstr(o->value, "SRC") || strstr(o->value, "FILE");
}

static void write_script(FILE *out)
{
	size_t count;
	const struct cli_command *const *commands = cli_commands(&count);

	fprintf(out, "# bash completion for sandglass\n"
		     "_sandglass()\n{\n"
		     "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
		     "names= i\n"
		     "\tCOMPREPLY=()\n"
		     "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
		     "\t\tCOMPREPLY=($(compgen -W '");
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%s", i ? " " : "", commands[i]->name);
	fprintf(out,
		"' -- \"$word\"))\n\t\treturn\n\tfi\n"
		"\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
		"\t\tif [ \"${COMP_WORDS[i]}\" = -- ]; then\n"
		"\t\t\tCOMPREPLY=($(compgen -c -f -- \"$word\"))\n\t\t\treturn\n\t\tfi\n\tdone\n"
		"\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "\t%s) names='", commands[i]->name);
		for (const struct cli_option *o = commands[i]->options; o->name; o++)
			fprintf(out, "--%s ", o->name);
		fprintf(out, "--json --help' ;;\n");
	}
	fprintf(out, "\tesac\n"
		     "\tcase ${COMP_WORDS[1]} in\n"
		     "\texplain) names+=' ");
	for (int r = 0; r < REASON_COUNT; r++)
		fprintf(out, "%s ", reason_info((enum reason)r)->code);
	fprintf(out, "' ;;\n\thelp) names+=' ");
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s ", commands[i]->name);
	fprintf(out, "' ;;\n"
		     "\tcompletion) names+=' bash' ;;\n"
		     "\tesac\n"
		     "\tcase $before in\n");
	/* The value of an option is none of the options. */
	fprintf(out, "\t");
	for (const struct cli_option *o = command_run.options; o->name; o++)
		if (o->value && !is_path(o))
			fprintf(out, "--%s|", o->name);
	fprintf(out, "'') ;;\n\t");
	for (const struct cli_option *o = command_run.options; o->name; o++)
		if (o->value && is_path(o))
			fprintf(out, "--%s|", o->name);
	fprintf(out, "'') COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
		     "\t*) COMPREPLY=($(compgen -W \"$names\" -- \"$word\")) ;;\n"
		     "\tesac\n}\ncomplete -o filenames -F _sandglass sandglass\n");
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
	.run = run,
	.usage_status = 2,
};
