/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass conformance: holds a backend to the promises of all. */
#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/session.h"
#include "codec/json.h"
#include "conformance/conformance.h"

struct values {
	const char *only, *forks;
	bool json;
};

static const struct cli_option options[] = {
	{"only", CLI_TEXT, "TEXT", "only the tests whose name holds this",
		offsetof(struct values, only)},
	{"forks", CLI_TEXT, "HOW",
		"run them in forks, made as this value of the backend's option fork says",
		offsetof(struct values, forks)},
	{0},
};

static const char *const verdicts[] = {"passed", "failed", "skipped"};

/* As TAP for a person and for harnesses, or into the JSON list. */
struct telling {
	json_t *list; /* or NULL */
	size_t number;
};

static void tell(void *arg, const char *name, enum conformance_verdict verdict, const char *why)
{
	struct telling *t = arg;
	json_t *object;

	t->number++;
	if (!t->list) {
		printf("%sok %zu - %s%s%s\n", verdict == CONFORMANCE_FAILED ? "not " : "",
			t->number, name, verdict == CONFORMANCE_SKIPPED ? " # SKIP " : "",
			verdict == CONFORMANCE_SKIPPED ? why : "");
		if (verdict == CONFORMANCE_FAILED)
			printf("# %s\n", why);
		fflush(stdout);
		return;
	}
	object = json_object();
	json_put(object, "name", json_str(name));
	json_put(object, "verdict", json_str(verdicts[verdict]));
	json_put(object, "why", json_str(why));
	json_add(t->list, object);
}

static int run(void *values, char **words)
{
	const struct values *v = values;
	auto_session_store struct session_store *s = NULL;
	auto_json json_t *result = json_object();
	struct telling t = {.list = v->json ? json_array() : NULL};
	struct conformance_counts n;
	autofree char *text = NULL;
	struct error err = {0};

	if (!cli_words_are(words, 1, 1, "conformance BACKEND [--only TEXT] [--forks HOW]"))
		return STATUS_USAGE;
	if (session_store_open(&s, &err) < 0 ||
		conformance_run(s, words[0], v->only, v->forks, tell, &t, &n, &err) < 0)
		return cli_fail(&err, STATUS_USAGE);
	if (!v->json) {
		printf("1..%zu\n", t.number);
	} else {
		json_put(result, "backend", json_str(words[0]));
		json_put(result, "tests", t.list);
		json_put(result, "passed", json_u64(n.passed));
		json_put(result, "failed", json_u64(n.failed));
		json_put(result, "skipped", json_u64(n.skipped));
		text = json_text(result);
		puts(text);
	}
	return n.failed ? STATUS_NO : 0;
}

const struct cli_command command_conformance = {
	.name = "conformance",
	.arguments = "BACKEND",
	.summary = "Hold a backend to what every backend promises",
	.details = "The result is TAP, or with --json one line. The sessions that it makes are "
		   "destroyed.\n",
	.options = options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run,
	.usage_status = STATUS_USAGE,
};
