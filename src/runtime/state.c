/* SPDX-License-Identifier: Apache-2.0 */
/* A runtime's state as text, which a run keeps beside its events. docs/format/ledger. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/str.h"
#include "codec/raw.h"
#include "ledger/lines.h"
#include "runtime/inside.h"

/* An event that waits, as ledger_line_write wrote it. */
static int read_pending(struct runtime *r, struct raw line, struct error *err)
{
	autofree char *id = raw_find_string(line, "id"), *type = raw_find_string(line, "type");
	autofree char *actor = raw_find_string(line, "actor");
	autofree char *cause = raw_find_string(line, "caused_by");
	struct raw payload;

	if (!id || !type || !raw_find(line, "payload", &payload))
		return error_set(err, ERR_FORMAT, "a state whose queue holds what is no event");
	runtime_queue(r, &(struct ledger_event){.id = id,
				 .type = type,
				 .actor = actor,
				 .caused_by = cause,
				 .payload = payload.text,
				 .payload_len = payload.len});
	return 0;
}

static void read_counter(struct runtime *r, struct raw counters, enum graph_kind kind)
{
	static const char *const names[] = {"object", "relation", "patch"};
	autofree char *text = NULL;
	struct raw value;
	struct error err;
	uint64_t n;

	if (!raw_find(counters, names[kind], &value))
		return;
	text = mem_strndup(value.text, value.len);
	if (num_parse_u64(text, INT64_MAX, &n, &err) == 0)
		graph_counter_raise(r->graph, kind, n);
}

static int read_state(struct runtime *r, const char *text, struct error *err)
{
	struct raw state, part, item;
	struct raw_walk w;

	if (raw_check(text, strlen(text), RAW_PYTHON, &state, err) < 0)
		return error_wrap(err, "a state");
	if (!raw_find(state, "graph", &part))
		return error_set(err, ERR_FORMAT, "a state without its graph");
	if (graph_read(r->graph, part.text, part.len, err) < 0)
		return -1;
	for (int kind = 0; kind < GRAPH_KINDS && raw_find(state, "counters", &part); kind++)
		read_counter(r, part, kind);
	if (!raw_find(state, "pending", &part))
		return 0;
	w = raw_walk(part);
	while (raw_next(&w, NULL, &item))
		if (read_pending(r, item, err) < 0)
			return -1;
	return 0;
}

int runtime_load_state(struct runtime *r, struct error *err)
{
	autofree char *text = NULL;
	uint64_t seq;
	int got = r->log.state ? r->log.state(r->log.context, &text, &seq, err) : 0;

	if (got <= 0)
		return got;
	r->seq = seq;
	return read_state(r, text, err);
}

void runtime_write_state(const struct runtime *r, struct bytes *out)
{
	autofree char *head = str_format("{\"counters\":{\"object\":%" PRIu64 ",\"patch\":%" PRIu64
					 ",\"relation\":%" PRIu64
					 "},\"format\":\"sandglass.ledger-state/1\",\"graph\":",
		graph_counter(r->graph, GRAPH_OBJECT), graph_counter(r->graph, GRAPH_PATCH),
		graph_counter(r->graph, GRAPH_RELATION));

	bytes_put(out, head, strlen(head));
	graph_write(r->graph, out);
	bytes_put(out, ",\"pending\":[", 12);
	for (size_t i = r->queue.first; i < r->queue.count; i++) {
		if (i > r->queue.first)
			bytes_put_u8(out, ',');
		ledger_line_write(out, &r->queue.list[i].e, NULL);
	}
	bytes_put(out, "]}", 2);
}

int runtime_compact(struct ledger *l, const char *run, uint64_t *ret_seq, struct error *err)
{
	auto_runtime struct runtime *r = NULL;
	auto_bytes struct bytes text = {0};
	struct runtime_log log;

	if (ledger_kind(l) != LEDGER_OURS)
		return error_set(err, ERR_UNSUPPORTED,
			"an ActiveGraph store is compacted by its own program");
	if (runtime_log_of_run(l, run, &log, err) < 0)
		return -1;
	r = runtime_new(&log, 0);
	if (runtime_load(r, err) < 0)
		return -1;
	runtime_write_state(r, &text);
	if (r->seq && ledger_state_put(l, run, r->seq, (char *)text.data, text.len, err) < 0)
		return -1;
	*ret_seq = r->seq;
	return ledger_checkpoint(l, err);
}
