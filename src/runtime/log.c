/* SPDX-License-Identifier: Apache-2.0 */
/* Where a runtime's events come from and go to: a run of a ledger, or one that was lent. */
#include <stdlib.h>

#include "base/mem.h"
#include "runtime/runtime.h"

struct run_log {
	struct ledger_cursor *cursor;
	struct ledger_writer *writer;
};

static int run_next(void *context, struct ledger_event *ret, struct error *err)
{
	struct run_log *log = context;

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
	free(log);
}

int runtime_log_of_run(
	struct ledger *l, const char *run, struct runtime_log *ret, struct error *err)
{
	auto_ledger_writer struct ledger_writer *w = NULL;
	auto_ledger_cursor struct ledger_cursor *c = NULL;
	struct run_log *log;

	/* Where it ends first: what comes between makes the first append fail, as it should. */
	if (ledger_writer_open(l, run, &w, err) < 0 || ledger_events(l, run, 0, 0, &c, err) < 0)
		return -1;
	log = mem_alloc(sizeof(*log));
	log->cursor = take_ptr(c);
	log->writer = take_ptr(w);
	*ret = (struct runtime_log){.context = log,
		.next = run_next,
		.append = run_append,
		.number = run_number,
		.finish = run_finish};
	return 0;
}

static int link_next(void *context, struct ledger_event *ret, struct error *err)
{
	return ledger_link_next(context, ret, err);
}

static int link_append(void *context, const struct ledger_new *events, size_t count, bool is_block,
	struct error *err)
{
	return ledger_link_append(context, events, count, is_block, err);
}

static uint64_t link_number(void *context)
{
	return ledger_link_number(context);
}

void runtime_log_of_link(struct ledger_link *k, struct runtime_log *ret)
{
	*ret = (struct runtime_log){
		.context = k, .next = link_next, .append = link_append, .number = link_number};
}
