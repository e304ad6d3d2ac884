/* SPDX-License-Identifier: Apache-2.0 */
/* What there is on the fork, for packs that ask: its events projected, those of the trial too. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "runtime/graph.h"
#include "trial/inside.h"

enum { REPLY_MAX = 512 * 1024, REPLY_NODES = 100, CLOCK_EVERY = 1024 };

/* The fork's past, once: only who asks pays for it. */
static int project_past(struct trial *t, struct error *err)
{
	auto_ledger_cursor struct ledger_cursor *c = NULL;
	auto_graph struct graph *g = graph_new();
	struct ledger_event e;
	uint64_t looked = 0;
	int r;

	if (ledger_events(t->ledger, t->report->fork_run_id, 0, 0, &c, err) < 0)
		return STEP_ERROR;
	while ((r = ledger_next(c, &e, err)) > 0) {
		if (graph_apply(g, &e, err) < 0)
			return STEP_FAILED;
		if (++looked % CLOCK_EVERY == 0 && t->deadline_ns &&
			clock_host_ns() > t->deadline_ns)
			return trial_out_of_time(t);
	}
	if (r < 0)
		return STEP_ERROR;
	t->graph = take_ptr(g);
	return 0;
}

/* STEP_FAILED: an event is not of the shape that its type demands; err says which. */
static int project(struct trial *t, struct error *err)
{
	int r = t->graph ? 0 : project_past(t, err);

	for (; r == 0 && t->projected < t->count; t->projected++) {
		const struct waiting *w = &t->events[t->projected];
		const struct ledger_event e = {.seq = t->shared + 1 + t->projected,
			.id = w->id,
			.type = w->type,
			.actor = w->actor,
			.caused_by = w->caused_by,
			.payload = w->payload,
			.payload_len = strlen(w->payload)};

		if (graph_apply(t->graph, &e, err) < 0)
			return STEP_FAILED;
	}
	return r;
}

int trial_objects_reply(struct trial *t, const json_t *request, char **ret, struct error *err)
{
	const char *after = trial_text(request, "after"), *type = trial_text(request, "type");
	struct bytes CLEANUP(bytes_finish) out = {0};
	autofree const struct graph_node **all = NULL;
	size_t count = 0, given = 0;
	bool more = false;
	int r = project(t, err);

	if (r != 0)
		return r;
	all = graph_all(t->graph, GRAPH_OBJECT, &count);
	bytes_put(&out, "{\"reply\":{\"objects\":[", 21);
	for (size_t i = 0; i < count && !more; i++) {
		if ((after && strcmp(all[i]->id, after) <= 0) ||
			(type && strcmp(all[i]->type, type) != 0))
			continue;
		more = given == REPLY_NODES || out.len > REPLY_MAX;
		if (more)
			break;
		if (given++)
			bytes_put_u8(&out, ',');
		graph_write_node(&out, GRAPH_OBJECT, all[i]);
	}
	bytes_put(&out, more ? "],\"more\":true}}\n" : "],\"more\":false}}\n", more ? 17 : 18);
	*ret = mem_take(&out.data);
	return 0;
}
