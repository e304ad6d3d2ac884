/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass session snapshot: freezes a session's workspace and prints the digest. */
#include <string.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/session.h"

struct values {
	const char *git;
	bool xattrs, json;
};

static const struct cli_option options[] = {
	{"git", CLI_TEXT, "keep|drop|normalise",
		"what becomes of each .git: keep, drop, or normalise it so that equal repositories "
		"freeze alike (normalise)",
		offsetof(struct values, git),
		"What depends on clocks and on the host is left out by normalise. The .git file of "
		"a "
		"linked worktree is always left out."},
	{"xattrs", CLI_FLAG, NULL, "user.* attributes too", offsetof(struct values, xattrs)},
	{0},
};

static int parse_policy(const char *text, enum snapshot_git *ret, struct error *err)
{
	static const struct {
		const char *name;
		enum snapshot_git git;
	} rows[] = {{"keep", SNAPSHOT_GIT_KEEP}, {"drop", SNAPSHOT_GIT_DROP},
		{"normalise", SNAPSHOT_GIT_NORMALISE}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(text, rows[i].name) == 0) {
			*ret = rows[i].git;
			return 0;
		}
	return error_set(err, ERR_USAGE, "--git '%.40s': one of keep, drop, normalise", text);
}

static int run(void *values, char **words)
{
	const struct values *v = values;
	auto_session_store struct session_store *store = NULL;
	auto_session struct session *s = NULL;
	struct snapshot_policy policy = {.git = SNAPSHOT_GIT_NORMALISE, .has_xattrs = v->xattrs};
	struct error err = {0};
	char digest[DIGEST_TEXT];

	if (!cli_words_are(words, 1, 1, "session snapshot ID"))
		return STATUS_USAGE;
	if (v->git && parse_policy(v->git, &policy.git, &err) < 0)
		return cli_fail(&err, STATUS_USAGE);
	if (session_store_open(&store, &err) < 0 || session_open(store, words[0], &s, &err) < 0 ||
		session_snapshot(s, &policy, digest, &err) < 0)
		return cli_session_fail(&err);
	cli_print_one(v->json, "digest", digest);
	return 0;
}

const struct cli_command command_session_snapshot = {
	.name = "session snapshot",
	.arguments = "ID",
	.summary = "Freeze a session's workspace and print the digest",
	.options = options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run,
	.usage_status = STATUS_USAGE,
};
