/* SPDX-License-Identifier: Apache-2.0 */
/* Where a runtime's events come from and go to: a run of a ledger. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "codec/raw.h"
#include "runtime/runtime.h"

struct run_log {
	struct ledger *ledger; /* borrowed */
	char *run;
	uint64_t from; /* seq of the first event that a state does not stand for */
	struct ledger_cursor *cursor;
	struct ledger_writer *writer;
};

/* What a compacted ActiveGraph run begins with, as one of our states. */
static int blob_state(
	struct run_log *log, const struct ledger_event *e, char **ret_text, struct error *err)
{
	struct raw payload = {e->payload, e->payload_len}, counters;
	autofree char *hash = raw_find_string(payload, "state_hash"), *blob = NULL;

	if (!hash)
		return error_set(err, ERR_FORMAT, "the snapshot %.100s names no state_hash", e->id);
	if (ledger_blob_find(log->ledger, hash, &blob, err) < 0)
		return -1;
	if (!raw_find(payload, "id_counters", &counters))
		counters = (struct raw){"{}", 2};
	*ret_text = str_format("{\"counters\":%.*s,\"graph\":%s,\"pending\":[]}", (int)counters.len,
		counters.text, blob);
	return 1;
}

static int run_state(void *context, char **ret_text, uint64_t *ret_seq, struct error *err)
{
	struct run_log *log = context;
	auto_ledger_cursor struct ledger_cursor *c = NULL;
	struct ledger_event e;
	int got;

	if (ledger_kind(log->ledger) == LEDGER_OURS) {
		got = ledger_state_find(log->ledger, log->run, ledger_writer_seq(log->writer),
			ret_text, ret_seq, err);
		if (got > 0)
			log->from = *ret_seq + 1;
		return got;
	}
	if (ledger_events(log->ledger, log->run, 0, 0, &c, err) < 0)
		return -1;
	got = ledger_next(c, &e, err);
	if (got <= 0 || strcmp(e.type, "runtime.snapshot") != 0)
		return got < 0 ? -1 : 0;
	*ret_seq = e.seq;
	log->from = e.seq + 1;
	return blob_state(log, &e, ret_text, err);
}

static int run_next(void *context, struct ledger_event *ret, struct error *err)
{
	struct run_log *log = context;

	if (!log->cursor && ledger_events(log->ledger, log->run, log->from,
				    ledger_writer_seq(log->writer), &log->cursor, err) < 0)
		return -1;
	return ledger_next(log->cursor, ret, err);
}

static int run_append(void *context, const struct ledger_new *events, size_t count, bool is_block,
	struct error *err)
{
	struct run_log *log = context;

	return ledger_append(log->writer, events, count, is_block, err);
}

static uint64_t run_number(void *context)
{
	struct run_log *log = context;

	return ledger_writer_number(log->writer);
}

static void run_finish(void *context)
{
	struct run_log *log = context;

	ledger_cursor_cleanup(&log->cursor);
	ledger_writer_cleanup(&log->writer);
	free(log->run);
	free(log);
}

int runtime_log_of_run(
	struct ledger *l, const char *run, struct runtime_log *ret, struct error *err)
{
	auto_ledger_writer struct ledger_writer *w = NULL;
	struct run_log *log;

	/* What it has by then is read; what comes later makes the first append fail, as it should.
	 */
	if (ledger_writer_open(l, run, &w, err) < 0)
		return -1;
	log = mem_alloc(sizeof(*log));
	log->ledger = l;
	log->run = mem_strdup(run);
	log->writer = take_ptr(w);
	*ret = (struct runtime_log){.context = log,
		.state = run_state,
		.next = run_next,
		.append = run_append,
		.number = run_number,
		.finish = run_finish};
	return 0;
}
