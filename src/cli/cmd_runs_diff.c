/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass runs diff: where two runs part, and what differs in what they project to. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/runs.h"
#include "cli/session.h"
#include "cli/store.h"
#include "runtime/runtime.h"

struct values {
	struct cli_runs runs;
	bool json;
};

#define AT(field) offsetof(struct values, field)

static const struct cli_option options[] = {
	CLI_RUNS_OPTIONS(runs),
	{0},
};

/* One of the two sides. */
struct side {
	struct ledger_cursor *cursor;
	struct runtime *runtime;
	struct ledger_event event; /* while got is 1 */
	int got;
	uint64_t rest; /* events from where they part on */
	char *first;   /* the first of those */
};

struct parting {
	struct side a, b;
	uint64_t shared; /* events that are the same */
};

static void parting_finish(struct parting *p)
{
	ledger_cursor_cleanup(&p->a.cursor);
	ledger_cursor_cleanup(&p->b.cursor);
	runtime_cleanup(&p->a.runtime);
	runtime_cleanup(&p->b.runtime);
	free(p->a.first);
	free(p->b.first);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Seqs and times apart: a copy of a history in another store is the same history. */
static bool same_event(const struct ledger_event *a, const struct ledger_event *b)
{
	return same_text(a->id, b->id) && same_text(a->type, b->type) &&
	       same_text(a->actor, b->actor) && same_text(a->caused_by, b->caused_by) &&
	       a->payload_len == b->payload_len &&
	       memcmp(a->payload, b->payload, a->payload_len) == 0;
}

static int step(struct side *s, struct error *err)
{
	s->got = ledger_next(s->cursor, &s->event, err);
	return s->got < 0 ? -1 : 0;
}

/* What is left of a side. */
static int count_rest(struct side *s, struct error *err)
{
	if (s->got > 0)
		s->first = str_format("%s %s", s->event.id, s->event.type);
	for (; s->got > 0; s->rest++)
		if (step(s, err) < 0)
			return -1;
	return 0;
}

static int load(struct ledger *l, const char *run, struct side *s, uint64_t from, struct error *err)
{
	struct runtime_log log;

	if (ledger_events(l, run, from, 0, &s->cursor, err) < 0 ||
		runtime_log_of_run(l, run, &log, err) < 0)
		return -1;
	s->runtime = runtime_new(&log, 0);
	return runtime_load(s->runtime, err);
}

static int compare(struct ledger *l, char **runs, struct parting *p, struct error *err)
{
	/* What they have in common by lineage is not looked at. */
	if (ledger_common(l, runs[0], runs[1], &p->shared, err) < 0 ||
		load(l, runs[0], &p->a, p->shared + 1, err) < 0 ||
		load(l, runs[1], &p->b, p->shared + 1, err) < 0 || step(&p->a, err) < 0 ||
		step(&p->b, err) < 0)
		return -1;
	while (p->a.got > 0 && p->b.got > 0 && same_event(&p->a.event, &p->b.event)) {
		p->shared++;
		if (step(&p->a, err) < 0 || step(&p->b, err) < 0)
			return -1;
	}
	return count_rest(&p->a, err) < 0 || count_rest(&p->b, err) < 0 ? -1 : 0;
}

static json_t *node_json(enum graph_kind kind, const struct graph_node *n)
{
	auto_bytes struct bytes text = {0};

	graph_write_node(&text, kind, n);
	return json_bytes((char *)text.data, text.len);
}

static bool same_node(enum graph_kind kind, const struct graph_node *a, const struct graph_node *b)
{
	auto_bytes struct bytes x = {0}, y = {0};

	graph_write_node(&x, kind, a);
	graph_write_node(&y, kind, b);
	return x.len == y.len && memcmp(x.data, y.data, x.len) == 0;
}

/* {"id", "a", "b"}: the node's text on each side, null where it is not there. */
static void add_change(
	json_t *list, enum graph_kind kind, const struct graph_node *a, const struct graph_node *b)
{
	const struct graph_node *either = a ? a : b;
	json_t *o = json_object();

	if (!either)
		abort(); /* our own bug */
	json_put(o, "a", a ? node_json(kind, a) : json_null());
	json_put(o, "b", b ? node_json(kind, b) : json_null());
	json_put(o, "id", json_str(either->id));
	json_add(list, o);
}

/* Two lists in one order: what is on one side alone, or not the same. */
static json_t *changes(const struct parting *p, enum graph_kind kind)
{
	size_t count_a, count_b, i = 0, j = 0;
	autofree const struct graph_node **a =
		graph_all(runtime_graph(p->a.runtime), kind, &count_a);
	autofree const struct graph_node **b =
		graph_all(runtime_graph(p->b.runtime), kind, &count_b);
	json_t *list = json_array();

	while (i < count_a || j < count_b) {
		int order = i == count_a ? 1 : j == count_b ? -1 : strcmp(a[i]->id, b[j]->id);

		if (order < 0) {
			add_change(list, kind, a[i++], NULL);
		} else if (order > 0) {
			add_change(list, kind, NULL, b[j++]);
		} else {
			if (!same_node(kind, a[i], b[j]))
				add_change(list, kind, a[i], b[j]);
			i++;
			j++;
		}
	}
	return list;
}

static json_t *side_json(const struct side *s)
{
	json_t *o = json_object();

	json_put(o, "events", json_u64(s->rest));
	json_put(o, "first", s->first ? json_str(s->first) : json_null());
	return o;
}

static void print_changes(const char *what, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *o = json_array_get(list, i);
		bool a = !json_is_null(json_object_get(o, "a")),
		     b = !json_is_null(json_object_get(o, "b"));
		const char *id = json_string_value(json_object_get(o, "id"));
		autofree char *safe = str_printable(id, strlen(id), 200);

		printf("%s %s %s\n", a && b ? "~" : a ? "-" : "+", what, safe);
	}
}

static void print_side(const char *name, const struct side *s)
{
	autofree char *safe = s->first ? str_printable(s->first, strlen(s->first), 200) : NULL;

	printf("%s: %" PRIu64 " more%s%s\n", name, s->rest, safe ? ", first " : "",
		safe ? safe : "");
}

static int run(void *values, char **argv)
{
	const struct values *v = values;
	auto_ledger struct ledger *l = NULL;
	struct parting CLEANUP(parting_finish) p = {0};
	json_t *objects, *relations, *o;
	struct error err;
	bool same;

	if (!cli_words_are(argv, 2, 2, "runs diff RUN RUN"))
		return STATUS_USAGE;
	if (cli_runs_open(&v->runs, LEDGER_EXISTING, &l, &err) < 0 ||
		compare(l, argv, &p, &err) < 0)
		return cli_runs_fail(&err);
	same = p.a.rest == 0 && p.b.rest == 0;
	objects = changes(&p, GRAPH_OBJECT);
	relations = changes(&p, GRAPH_RELATION);
	if (v->json) {
		o = json_object();
		json_put(o, "a", side_json(&p.a));
		json_put(o, "b", side_json(&p.b));
		json_put(o, "objects", objects);
		json_put(o, "relations", relations);
		json_put(o, "same", json_boolean(same));
		json_put(o, "shared", json_u64(p.shared));
		cli_print_json(o);
	} else {
		printf("the same: %" PRIu64 " events\n", p.shared);
		print_side("a", &p.a);
		print_side("b", &p.b);
		print_changes("object", objects);
		print_changes("relation", relations);
		json_decref(objects);
		json_decref(relations);
	}
	return same ? 0 : STATUS_NO;
}

const struct cli_command command_runs_diff = {
	.name = "runs diff",
	.arguments = "RUN RUN",
	.summary = "Tell where two runs part, and what differs since",
	.details = "Objects and relations that the second run has alone are marked +, those of the "
		   "first alone -,\nthose that differ ~.\n\nExit status: 0 the same events; 1 they "
		   "differ; 2 wrong usage.\n",
	.options = options,
	.size = sizeof(struct values),
	.json = AT(json),
	.interleaved = true,
	.run = run,
	.usage_status = 2,
};
