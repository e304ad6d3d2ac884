/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass session create, resume, fork: new sessions, whose ids are printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/path.h"
#include "cli/commands.h"
#include "cli/session.h"
#include "codec/json.h"

struct values {
	const char *backend, *manifest;
	uint64_t owner, count;
	bool json;
};

static const struct cli_option create_options[] = {
	{"backend", CLI_TEXT, "BACKEND",
		"where it lives: native (default), worktree; see 'sandglass backends'",
		offsetof(struct values, backend),
		"The backend native runs each program in a container of its own. worktree isolates "
		"nothing: "
		"programs run as the caller, with his files and his network. It is for code that "
		"is "
		"trusted."},
	{"manifest", CLI_TEXT, "FILE",
		"what it holds: docs/format/manifest.md; - is standard input",
		offsetof(struct values, manifest)},
	{"owner", CLI_NUMBER, "PID", "the session ends with this process: the next gc removes it",
		offsetof(struct values, owner)},
	{0},
};

static int read_manifest(const char *path, struct manifest *ret, struct error *err)
{
	autofree char *text = NULL, *cwd = getcwd(NULL, 0), *base = NULL;
	size_t len;

	if (!path) {
		manifest_init(ret);
		return 0;
	}
	if (cli_read_input(path, MANIFEST_TEXT_MAX, &text, &len, err) < 0)
		return -1;
	/* Paths in it start where it stands. */
	if (strcmp(path, "-") == 0) {
		base = mem_strdup(cwd ? cwd : "/");
	} else {
		autofree char *whole = path_join(cwd ? cwd : "/", path);

		base = path_dirname(whole);
	}
	return manifest_parse(text, len, base, ret, err) < 0 ? error_wrap(err, "'%.200s'", path)
							     : 0;
}

static int create(void *values, char **words)
{
	const struct values *v = values;
	auto_session_store struct session_store *s = NULL;
	auto_manifest struct manifest m = {0};
	struct error err = {0};
	char id[SESSION_ID_SIZE];

	if (!cli_words_are(words, 0, 0, "session create [OPTION...]"))
		return STATUS_USAGE;
	if (read_manifest(v->manifest, &m, &err) < 0)
		return cli_fail(&err, STATUS_USAGE);
	if (session_store_open(&s, &err) < 0 ||
		session_create(s, v->backend, &m, (int64_t)v->owner, id, &err) < 0)
		return cli_fail(&err, STATUS_USAGE);
	cli_print_one(v->json, "id", id);
	return 0;
}

const struct cli_command command_session_create = {
	.name = "session create",
	.arguments = "",
	.summary = "Make a workspace and print its id",
	.options = create_options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = create,
	.usage_status = STATUS_USAGE,
};

static const struct cli_option resume_options[] = {
	{"backend", CLI_TEXT, "BACKEND", "where it lives (native)",
		offsetof(struct values, backend)},
	{"owner", CLI_NUMBER, "PID", "the session ends with this process: the next gc removes it",
		offsetof(struct values, owner)},
	{0},
};

static int resume(void *values, char **words)
{
	const struct values *v = values;
	auto_session_store struct session_store *s = NULL;
	struct error err = {0};
	char id[SESSION_ID_SIZE];

	if (!cli_words_are(words, 1, 1, "session resume DIGEST"))
		return STATUS_USAGE;
	if (session_store_open(&s, &err) < 0 ||
		session_resume(s, words[0], v->backend, (int64_t)v->owner, id, &err) < 0)
		return cli_session_fail(&err);
	cli_print_one(v->json, "id", id);
	return 0;
}

const struct cli_command command_session_resume = {
	.name = "session resume",
	.arguments = "DIGEST",
	.summary = "Make a workspace from a snapshot and print its id",
	.options = resume_options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = resume,
	.usage_status = STATUS_USAGE,
};

static const struct cli_option fork_options[] = {
	{"count", CLI_NUMBER, "K", "how many (1)", offsetof(struct values, count)},
	{"owner", CLI_NUMBER, "PID", "the session ends with this process: the next gc removes it",
		offsetof(struct values, owner)},
	{0},
};

static void print_ids(bool json, char (*ids)[SESSION_ID_SIZE], size_t count)
{
	auto_json json_t *object = json_object();
	json_t *list = json_array();
	autofree char *text = NULL;

	for (size_t i = 0; i < count; i++) {
		json_add(list, json_str(ids[i]));
		if (!json)
			printf("%s\n", ids[i]);
	}
	json_put(object, "ids", list);
	text = json_text(object);
	if (json)
		printf("%s\n", text);
}

static int fork_session(void *values, char **words)
{
	const struct values *v = values;
	size_t count = v->count ? v->count : 1;
	auto_session_store struct session_store *s = NULL;
	auto_session struct session *from = NULL;
	autofree char(*ids)[SESSION_ID_SIZE] = NULL;
	struct error err = {0};

	if (!cli_words_are(words, 1, 1, "session fork ID [--count K]"))
		return STATUS_USAGE;
	if (count > SESSION_FORKS_MAX) {
		error_set(&err, ERR_USAGE, "--count %zu: at most %d", count, SESSION_FORKS_MAX);
		return cli_fail(&err, STATUS_USAGE);
	}
	ids = mem_array(count, sizeof(*ids));
	if (session_store_open(&s, &err) < 0 || session_open(s, words[0], &from, &err) < 0 ||
		session_fork(from, count, (int64_t)v->owner, ids, &err) < 0)
		return cli_session_fail(&err);
	print_ids(v->json, ids, count);
	return 0;
}

const struct cli_command command_session_fork = {
	.name = "session fork",
	.arguments = "ID",
	.summary = "Make more workspaces like this one and print their ids",
	.options = fork_options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = fork_session,
	.usage_status = STATUS_USAGE,
};
