/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass session list, show, shutdown, destroy, gc: what there is, and its end. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "cli/commands.h"
#include "cli/session.h"
#include "codec/json.h"

struct values {
	uint64_t older_ns;
	bool all, dry_run, json;
};

static const struct cli_option no_options[] = {{0}};

static void print_json(const json_t *value)
{
	autofree char *text = json_text(value);

	printf("%s\n", text);
}

static int print_record(void *arg, const struct session_record *r, struct error *err)
{
	json_t *list = arg;
	char created[NUM_TIME_SIZE];

	(void)err;
	if (list) {
		json_add(list, cli_session_json(r));
		return 0;
	}
	num_format_time(created, r->created_s * NUM_SECOND_NS);
	printf("%s  %-10s  %-9s  %s\n", r->id, r->backend, session_state_name(r->state), created);
	return 0;
}

static const struct cli_option list_options[] = {
	{"all", CLI_FLAG, NULL, "destroyed ones too, whose records are kept for a week",
		offsetof(struct values, all)},
	{0},
};

static int list(void *values, char **words)
{
	const struct values *v = values;
	auto_session_store struct session_store *s = NULL;
	auto_json json_t *all = json_array();
	struct error err = {0};

	if (!cli_words_are(words, 0, 0, "session list [--all]"))
		return STATUS_USAGE;
	if (session_store_open(&s, &err) < 0 ||
		session_list(s, v->all, print_record, v->json ? all : NULL, &err) < 0)
		return cli_session_fail(&err);
	if (v->json)
		print_json(all);
	return 0;
}

const struct cli_command command_session_list = {
	.name = "session list",
	.arguments = "",
	.summary = "List the sessions",
	.options = list_options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = list,
	.usage_status = STATUS_USAGE,
};

static int show(void *values, char **words)
{
	auto_session_store struct session_store *store = NULL;
	auto_session struct session *s = NULL;
	auto_json json_t *value = NULL;
	struct error err = {0};

	(void)values;
	if (!cli_words_are(words, 1, 1, "session show ID"))
		return STATUS_USAGE;
	if (session_store_open(&store, &err) < 0 || session_open(store, words[0], &s, &err) < 0)
		return cli_session_fail(&err);
	value = cli_session_json(session_record(s));
	print_json(value);
	return 0;
}

const struct cli_command command_session_show = {
	.name = "session show",
	.arguments = "ID",
	.summary = "Print what is known of a session, as JSON",
	.options = no_options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = show,
	.usage_status = STATUS_USAGE,
};

/* Each of the ids; the first that fails ends it. */
static int each(const struct values *v, char **words, const char *usage,
	int (*end)(struct session_store *s, const char *id, struct error *err))
{
	auto_session_store struct session_store *s = NULL;
	auto_json json_t *done = json_array();
	struct error err = {0};

	if (!cli_words_are(words, 1, SIZE_MAX, usage))
		return STATUS_USAGE;
	if (session_store_open(&s, &err) < 0)
		return cli_session_fail(&err);
	for (char **id = words; *id; id++) {
		if (end(s, *id, &err) < 0)
			return cli_session_fail(&err);
		json_add(done, json_str(*id));
	}
	if (v->json)
		print_json(done);
	return 0;
}

static int shutdown_sessions(void *values, char **words)
{
	return each(values, words, "session shutdown ID...", session_shutdown);
}

const struct cli_command command_session_shutdown = {
	.name = "session shutdown",
	.arguments = "ID...",
	.summary = "End what runs in sessions; their files stay",
	.options = no_options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = shutdown_sessions,
	.usage_status = STATUS_USAGE,
};

static int destroy(void *values, char **words)
{
	return each(values, words, "session destroy ID...", session_destroy);
}

const struct cli_command command_session_destroy = {
	.name = "session destroy",
	.arguments = "ID...",
	.summary = "End sessions and remove their files",
	.options = no_options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = destroy,
	.usage_status = STATUS_USAGE,
};

static const struct cli_option gc_options[] = {
	{"dry-run", CLI_FLAG, NULL, "only say what would go", offsetof(struct values, dry_run)},
	{"older", CLI_DURATION, "TIME", "sessions made longer ago too, like 7d",
		offsetof(struct values, older_ns)},
	{0},
};

static int gc(void *values, char **words)
{
	const struct values *v = values;
	auto_session_store struct session_store *s = NULL;
	auto_json json_t *object = json_object();
	struct session_gc g = {
		.is_dry = v->dry_run, .older_s = (v->older_ns + NUM_SECOND_NS - 1) / NUM_SECOND_NS};
	struct error err = {0};

	if (!cli_words_are(words, 0, 0, "session gc [--dry-run] [--older TIME]"))
		return STATUS_USAGE;
	if (session_store_open(&s, &err) < 0 || session_gc(s, &g, &err) < 0)
		return cli_session_fail(&err);
	json_put(object, "half_made", json_u64(g.half_made));
	json_put(object, "ownerless", json_u64(g.ownerless));
	json_put(object, "old", json_u64(g.old));
	json_put(object, "tombstones", json_u64(g.tombstones));
	if (v->json)
		print_json(object);
	else
		printf("%" PRIu64 " half made, %" PRIu64 " without their owner, %" PRIu64
		       " old, %" PRIu64 " records of destroyed ones\n",
			g.half_made, g.ownerless, g.old, g.tombstones);
	return 0;
}

const struct cli_command command_session_gc = {
	.name = "session gc",
	.arguments = "",
	.summary = "Remove sessions that were left behind",
	.options = gc_options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = gc,
	.usage_status = STATUS_USAGE,
};
