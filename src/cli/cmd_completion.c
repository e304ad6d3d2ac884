/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass completion: the shells' completion scripts, and the words that they ask for. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/complete.h"
#include "codec/json.h"

struct values {
	bool json;
};

static const struct cli_option options[] = {{0}};

/* The scripts know nothing of commands: the program that is completed answers by its tables. */
static const char bash[] =
	"# bash completion for sandglass\n"
	"_sandglass()\n"
	"{\n"
	"\tlocal word=${COMP_WORDS[COMP_CWORD]} line IFS=$'\\n'\n"
	"\tlocal -a answer\n"
	"\tmapfile -t answer < <(\"${COMP_WORDS[0]}\" completion words -- "
	"\"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
	"\tCOMPREPLY=()\n"
	"\tfor line in \"${answer[@]:1}\"; do\n"
	"\t\tCOMPREPLY+=(\"${line%%$'\\t'*}\")\n"
	"\tdone\n"
	"\tcase ${answer[0]} in\n"
	"\tfiles) COMPREPLY+=($(compgen -f -- \"$word\")) ;;\n"
	"\tdirectories) COMPREPLY+=($(compgen -d -- \"$word\")) ;;\n"
	"\tprograms) COMPREPLY+=($(compgen -c -- \"$word\") $(compgen -d -- \"$word\")) ;;\n"
	"\tesac\n"
	"\t[ \"${answer[0]}\" = words ] || compopt -o filenames 2>/dev/null\n"
	"}\n"
	"complete -F _sandglass sandglass\n";

static const char zsh[] =
	"#compdef sandglass\n"
	"_sandglass()\n"
	"{\n"
	"\tlocal line\n"
	"\tlocal -a answer described\n"
	"\tanswer=(\"${(@f)$(\"${(Q)words[1]}\" completion words -- "
	"\"${(@Q)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
	"\tfor line in \"${(@)answer[2,-1]}\"; do\n"
	"\t\t[[ -n $line ]] && described+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
	"\tdone\n"
	"\t(( $#described )) && _describe sandglass described\n"
	"\tcase $answer[1] in\n"
	"\tfiles) _files ;;\n"
	"\tdirectories) _files -/ ;;\n"
	"\tprograms) _command_names -e || _files ;;\n"
	"\tesac\n"
	"}\n"
	"if [ \"$funcstack[1]\" = _sandglass ]; then\n"
	"\t_sandglass \"$@\"\n"
	"else\n"
	"\tcompdef _sandglass sandglass\n"
	"fi\n";

static const char fish[] =
	"# fish completion for sandglass\n"
	"function __sandglass_words\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -l word (commandline -ct)\n"
	"\tset -l answer ($words[1] completion words -- $words[2..-1] \"$word\" 2>/dev/null)\n"
	"\tfor line in $answer[2..-1]\n"
	"\t\techo $line\n"
	"\tend\n"
	"\tswitch \"$answer[1]\"\n"
	"\t\tcase files\n"
	"\t\t\t__fish_complete_path \"$word\"\n"
	"\t\tcase directories\n"
	"\t\t\t__fish_complete_directories \"$word\"\n"
	"\t\tcase programs\n"
	"\t\t\tcomplete -C \"$word\"\n"
	"\tend\n"
	"end\n"
	"complete -c sandglass -f -a '(__sandglass_words)'\n";

static const struct {
	const char *shell, *script;
} scripts[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

static void print_json(const char *script)
{
	auto_json json_t *value = json_object();
	autofree char *text = NULL;

	json_put(value, "script", json_str(script));
	text = json_text(value);
	printf("%s\n", text);
}

static int run(void *values, char **argv)
{
	const struct values *v = values;
	const char *script = NULL;

	if (argv[0] && strcmp(argv[0], "words") == 0) {
		complete_words(argv + 1);
		return 0;
	}
	for (size_t i = 0; argv[0] && i < ARRAY_LEN(scripts); i++)
		if (strcmp(argv[0], scripts[i].shell) == 0)
			script = scripts[i].script;
	if (!script || argv[1]) {
		cli_say("completion is there for bash, zsh and fish: sandglass completion bash");
		return 2;
	}
	if (v->json)
		print_json(script);
	else
		printf("%s", script);
	return 0;
}

const struct cli_command command_completion = {
	.name = "completion",
	.arguments = "bash|zsh|fish",
	.summary = "Print a completion script for the shell",
	.details = "For this shell:\n"
		   "  bash   . <(sandglass completion bash)\n"
		   "  zsh    . <(sandglass completion zsh)\n"
		   "  fish   sandglass completion fish | source\n"
		   "The scripts ask 'sandglass completion words -- WORD...' what fits.\n",
	.options = options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run,
	.usage_status = 2,
};
