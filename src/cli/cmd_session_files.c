/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass session read, write, ls: the files of a session. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/session.h"
#include "codec/json.h"

enum { FILE_MAX = 1 << 30, MODE_DEFAULT = 0644 };

struct values {
	const char *mode;
	bool json;
};

static const struct cli_option no_options[] = {{0}};

static int read_file(void *values, char **words)
{
	const struct values *v = values;
	auto_session_store struct session_store *store = NULL;
	auto_session struct session *s = NULL;
	autofree char *data = NULL, *text = NULL;
	struct error err = {0};
	size_t len;

	if (!cli_words_are(words, 2, 2, "session read ID PATH"))
		return STATUS_USAGE;
	if (session_store_open(&store, &err) < 0 || session_open(store, words[0], &s, &err) < 0 ||
		session_read(s, words[1], FILE_MAX, &data, &len, &err) < 0 ||
		fd_write_all(STDOUT_FILENO, data, len, &err) < 0)
		return cli_session_fail(&err);
	/* Standard output is the file's. */
	text = str_format("{\"bytes\":%zu}", len);
	if (v->json)
		fprintf(stderr, "%s\n", text);
	return 0;
}

const struct cli_command command_session_read = {
	.name = "session read",
	.arguments = "ID PATH",
	.summary = "Print a file of a session",
	.options = no_options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = read_file,
	.usage_status = STATUS_USAGE,
};

static const struct cli_option write_options[] = {
	{"mode", CLI_TEXT, "OCTAL", "the file's mode, whatever the umask is (0644)",
		offsetof(struct values, mode)},
	{0},
};

static int write_file(void *values, char **words)
{
	const struct values *v = values;
	auto_session_store struct session_store *store = NULL;
	auto_session struct session *s = NULL;
	autofree char *data = NULL, *text = NULL;
	unsigned mode = MODE_DEFAULT;
	struct error err = {0};
	size_t len;

	if (!cli_words_are(words, 3, 3, "session write ID PATH FILE [--mode 0644]"))
		return STATUS_USAGE;
	if (v->mode && num_parse_mode(v->mode, &mode, &err) < 0) {
		error_wrap(&err, "--mode");
		return cli_fail(&err, STATUS_USAGE);
	}
	if (cli_read_input(words[2], FILE_MAX, &data, &len, &err) < 0)
		return cli_fail(&err, STATUS_USAGE);
	if (session_store_open(&store, &err) < 0 || session_open(store, words[0], &s, &err) < 0 ||
		session_write(s, words[1], data, len, mode, &err) < 0)
		return cli_session_fail(&err);
	text = str_format("{\"bytes\":%zu}", len);
	if (v->json)
		printf("%s\n", text);
	return 0;
}

const struct cli_command command_session_write = {
	.name = "session write",
	.arguments = "ID PATH FILE",
	.summary = "Put a file into a session; FILE - is standard input",
	.options = write_options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = write_file,
	.usage_status = STATUS_USAGE,
};

static int list(void *values, char **words)
{
	const struct values *v = values;
	auto_session_store struct session_store *store = NULL;
	auto_session struct session *s = NULL;
	auto_sandbox_names struct sandbox_names names = {0};
	auto_json json_t *all = json_array();
	autofree char *text = NULL;
	struct error err = {0};

	if (!cli_words_are(words, 1, 2, "session ls ID [PATH]"))
		return STATUS_USAGE;
	if (session_store_open(&store, &err) < 0 || session_open(store, words[0], &s, &err) < 0 ||
		session_ls(s, words[1] ? words[1] : ".", &names, &err) < 0)
		return cli_session_fail(&err);
	for (size_t i = 0; i < names.count; i++) {
		json_add(all, json_str(names.items[i]));
		if (!v->json)
			puts(names.items[i]);
	}
	text = json_text(all);
	if (v->json)
		puts(text);
	return 0;
}

const struct cli_command command_session_ls = {
	.name = "session ls",
	.arguments = "ID [PATH]",
	.summary = "List a directory of a session",
	.options = no_options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = list,
	.usage_status = STATUS_USAGE,
};
