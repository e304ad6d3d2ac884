/* SPDX-License-Identifier: Apache-2.0 */
/* What each control frame of the supervisor means: see frames.h and docs/format/control. */
#include "run/frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "wire/frame.h"

enum { DETAIL_MAX = 64 * 1024, WAITERS_MAX = 4096 };

struct taking {
	const struct one_spec *spec;
	struct one_result *result;
	struct frames_state *seen;
	struct bytes_reader *r;
	struct error *err;
};

typedef int take_frame(struct taking *t);

static void say(const struct taking *t, const char *prefix, const char *text)
{
	/* The supervisor's words may hold a guest's bytes, a program's name say. */
	autofree char *safe = str_printable(text, strlen(text), 4096);
	autofree char *line = str_format("%s%s", prefix, safe);

	if (!t->spec->is_quiet)
		t->spec->say(line);
}

static int take_started(struct taking *t)
{
	bytes_get_u32(t->r);
	t->seen->has_started = true;
	return 0;
}

/* Sent for observers; the counts have their sums. */
static int take_event(struct taking *t)
{
	t->r->pos = t->r->end;
	return 0;
}

static int take_exec(struct taking *t)
{
	autofree char *path = NULL;

	bytes_get_u32(t->r);
	path = bytes_get_string(t->r, CONTRACT_PATH_MAX);
	if (path[0] == '/')
		programs_add(&t->result->programs, path);
	return 0;
}

static int take_decisions(struct taking *t)
{
	return decisions_add(t->spec->decisions, t->r, t->err);
}

static int take_counts(struct taking *t)
{
	counts_decode(t->r, &t->result->counts);
	return 0;
}

static int take_not_enforced(struct taking *t)
{
	uint32_t reason = bytes_get_u32(t->r), is_news = bytes_get_u32(t->r);
	autofree char *detail = bytes_get_string(t->r, DETAIL_MAX);

	if (reason >= REASON_COUNT)
		return error_set(t->err, ERR_FORMAT, "unknown reason %u", reason);
	if (t->r->bad)
		return 0;
	notes_add(&t->result->notes, (enum reason)reason, detail);
	/* The caller knows that it sent a signal; the report counts it all the same. */
	if (!is_news || (reason == REASON_SIGNAL_FROM_OUTSIDE && t->result->was_interrupted))
		return 0;
	if (reason_info((enum reason)reason)->fatal)
		say(t, "determinism not enforced: ", detail);
	else
		say(t, reason == REASON_LIMIT_DEGRADED ? "degraded: " : "", detail);
	return 0;
}

static int take_assumption(struct taking *t)
{
	uint32_t reason = bytes_get_u32(t->r);
	autofree char *detail = bytes_get_string(t->r, DETAIL_MAX);

	if (reason >= REASON_COUNT)
		return error_set(t->err, ERR_FORMAT, "unknown reason %u", reason);
	if (!t->r->bad)
		notes_assume(&t->result->notes, (enum reason)reason, detail);
	return 0;
}

static int take_diverged(struct taking *t)
{
	return error_set(t->err, ERR_FORMAT, "a DIVERGED frame, but nothing is replayed");
}

static int take_input_ask(struct taking *t)
{
	struct feed_ask ask;

	ask.request = bytes_get_u64(t->r);
	ask.now_ns = bytes_get_u64(t->r);
	ask.due_ns = bytes_get_u64(t->r);
	ask.task = bytes_get_u32(t->r);
	if (t->r->bad)
		return 0;
	if (!t->seen->feed || ask.due_ns < ask.now_ns)
		return error_set(t->err, ERR_FORMAT, "a question for input that makes no sense");
	return feed_put_ask(t->seen->feed, &ask, t->err);
}

static int take_net_connect(struct taking *t)
{
	uint32_t stream = bytes_get_u32(t->r), type;
	struct endpoint to;

	(void)bytes_get_u32(t->r); /* the task: of the question that follows */
	(void)bytes_get_u64(t->r);
	type = bytes_get_u32(t->r);
	endpoint_get(t->r, &to);
	if (t->r->bad)
		return 0;
	if (!t->seen->feed || (type != 1 && type != 2))
		return error_set(t->err, ERR_FORMAT, "a connection that makes no sense");
	return feed_connect(t->seen->feed, stream, type == 2, &to, t->err);
}

static int take_net_sent(struct taking *t)
{
	struct feed_sent sent = {.stream = bytes_get_u32(t->r)};

	sent.now_ns = bytes_get_u64(t->r);
	sent.flags = bytes_get_u32(t->r);
	sent.data = t->r->pos;
	sent.len = (size_t)(t->r->end - t->r->pos);
	t->r->pos = t->r->end;
	if (t->r->bad)
		return 0;
	if (!t->seen->feed || !sent.stream || sent.flags > FRAME_NET_RESET)
		return error_set(t->err, ERR_FORMAT, "sending that makes no sense");
	return feed_sent(t->seen->feed, &sent, t->err);
}

static int take_net_wanted(struct taking *t)
{
	uint32_t stream = bytes_get_u32(t->r);

	if (t->seen->feed && !t->r->bad)
		outside_wanted(&t->seen->feed->outside, stream);
	return 0;
}

static char *take_text(struct taking *t)
{
	autofree char *text = bytes_get_string(t->r, DETAIL_MAX);

	return str_printable(text, strlen(text), 1024);
}

static int take_waiter(struct taking *t)
{
	struct waiters *all = &t->result->waiters;
	struct waiter *w;

	if (all->count == WAITERS_MAX)
		return 0;
	all->items = mem_grow(all->items, all->count + 1, sizeof(*all->items));
	w = &all->items[all->count++];
	w->task = bytes_get_u32(t->r);
	w->pid = bytes_get_u32(t->r);
	w->tid = bytes_get_u32(t->r);
	w->name = take_text(t);
	w->call = take_text(t);
	w->arguments = take_text(t);
	w->what = take_text(t);
	return 0;
}

static int take_deadlock(struct taking *t)
{
	autofree char *detail = bytes_get_string(t->r, DETAIL_MAX);

	if (t->r->bad)
		return 0;
	t->seen->has_end = true;
	t->result->end = ONE_DEADLOCK;
	say(t, "deadlock: ", detail);
	free(t->result->deadlock);
	t->result->deadlock = take_ptr(detail);
	return 0;
}

static int take_exit(struct taking *t)
{
	uint32_t kind = bytes_get_u32(t->r), code = bytes_get_u32(t->r),
		 flags = bytes_get_u32(t->r);

	if (kind > 1 || code > 255)
		return error_set(t->err, ERR_FORMAT, "exit of kind %u, code %u", kind, code);
	if (flags & FRAME_EXIT_OOM)
		t->result->oom = true;
	if (flags & FRAME_EXIT_KILLED)
		t->result->was_killed = true;
	if (t->seen->has_end)
		return 0;
	t->seen->has_end = true;
	t->result->end = ONE_GUEST;
	t->result->code = kind == 0 ? (int)code : 0;
	t->result->signal = kind == 1 ? (int)code : 0;
	return 0;
}

static int take_failed(struct taking *t)
{
	uint32_t code = bytes_get_u32(t->r), sys = bytes_get_u32(t->r);
	autofree char *message = bytes_get_string(t->r, DETAIL_MAX);
	autofree char *safe = str_printable(message, strlen(message), 400);

	if (code == ERR_NONE || code >= ERR_COUNT)
		return error_set(t->err, ERR_FORMAT, "failure of unknown kind %u", code);
	if (t->r->bad || t->seen->has_end)
		return 0;
	t->seen->has_end = true;
	t->result->end = ONE_FAILED;
	error_set(&t->result->failed, (enum errcode)code, "%s", safe);
	t->result->failed.sys = (int)sys;
	return 0;
}

/* Rows of what the supervisor sends; the host's own frames have none. */
static const struct {
	enum frame_type type;
	take_frame *take;
} rows[] = {
	{FRAME_STARTED, take_started},
	{FRAME_TIMER_ARMED, take_event},
	{FRAME_TIMER_FIRED, take_event},
	{FRAME_EXTERNAL_READ, take_event},
	{FRAME_ENTROPY, take_event},
	{FRAME_EXEC, take_exec},
	{FRAME_MAPPED, take_exec},
	{FRAME_DECISIONS, take_decisions},
	{FRAME_COUNTS, take_counts},
	{FRAME_NOT_ENFORCED, take_not_enforced},
	{FRAME_DIVERGED, take_diverged},
	{FRAME_DEADLOCK, take_deadlock},
	{FRAME_WAITER, take_waiter},
	{FRAME_EXIT, take_exit},
	{FRAME_FAILED, take_failed},
	{FRAME_ASSUMPTION, take_assumption},
	{FRAME_INPUT_ASK, take_input_ask},
	{FRAME_NET_CONNECT, take_net_connect},
	{FRAME_NET_SENT, take_net_sent},
	{FRAME_NET_WANTED, take_net_wanted},
};

int frames_take(const struct one_spec *spec, struct one_result *r, struct frames_state *seen,
	uint32_t type, struct bytes_reader *payload, struct error *err)
{
	struct taking t = {spec, r, seen, payload, err};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].type != type)
			continue;
		if (rows[i].take(&t) < 0)
			return error_wrap(err, "%s frame", frame_name(type));
		if (payload->bad || payload->pos != payload->end)
			return error_set(err, ERR_FORMAT, "malformed %s frame", frame_name(type));
		return 0;
	}
	return error_set(err, ERR_FORMAT, "unexpected %s frame", frame_name(type));
}
