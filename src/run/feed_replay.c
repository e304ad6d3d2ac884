/* SPDX-License-Identifier: Apache-2.0 */
/* The answers that a tape has: see feed_replay.h. */
#include "run/feed_replay.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "wire/frame.h"

static void diverge(struct feed *f, const char *name, uint64_t ordinal)
{
	struct feed_divergence *d = &f->divergence;

	d->diverged = true;
	d->ordinal = ordinal;
	snprintf(d->name, sizeof(d->name), "%s", name);
}

static void describe(char *out, size_t size, const char *fmt, ...) PRINTF_LIKE(3, 4);
static void describe(char *out, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out, size, fmt, ap);
	va_end(ap);
}

static void describe_ask(struct feed *f)
{
	describe(f->divergence.made, sizeof(f->divergence.made),
		"task %u waits for input at %llu ns (question %llu)", f->ask.task,
		(unsigned long long)f->ask.now_ns, (unsigned long long)f->ask.request);
}

/* A record of the tape, taken apart by its kind. */
struct next {
	uint64_t request;
	struct tape_input in;
	struct tape_connect connect;
	struct tape_received received;
	struct tape_sent sent;
};

static int decode(const struct tape_record *record, struct next *ret)
{
	*ret = (struct next){0};
	switch (record->kind) {
	case TAPE_CONNECT:
		if (tape_connect_decode(record, &ret->connect) < 0)
			return -1;
		ret->request = ret->connect.request;
		return 0;
	case TAPE_RECEIVED:
		if (tape_received_decode(record, &ret->received) < 0)
			return -1;
		ret->request = ret->received.request;
		return 0;
	case TAPE_SENT:
		if (tape_sent_decode(record, &ret->sent) < 0)
			return -1;
		ret->request = ret->sent.request;
		return 0;
	default:
		if (tape_input_decode(record, &ret->in) < 0)
			return -1;
		ret->request = ret->in.request;
		return 0;
	}
}

/* The tape's next record of input; 1, 0, -1. */
static int look_ahead(struct feed *f, struct next *ret, struct error *err)
{
	int got = f->has_next ? 1 : 0;

	while (!f->has_next && !f->is_over) {
		got = tape_next(f->reader, &f->next, err);
		if (got < 0)
			return -1;
		f->is_over = got == 0;
		f->has_next =
			got > 0 && f->next.kind != TAPE_OUTCOME && f->next.kind != TAPE_EFFECT;
	}
	if (!f->has_next)
		return 0;
	if (decode(&f->next, ret) < 0) {
		f->has_next = false;
		diverge(f, "UnknownRecord", f->next.ordinal);
		describe(f->divergence.recorded, sizeof(f->divergence.recorded),
			"a record of input that is none");
		describe(f->divergence.made, sizeof(f->divergence.made), "nothing can be given");
		return 0;
	}
	return 1;
}

/* What was made is described by the caller. */
static void missing(struct feed *f)
{
	uint64_t at = 0;
	const char *damage = tape_damage(f->reader, &at);

	diverge(f, "MissingRecord", f->next.ordinal + 1);
	if (damage)
		describe(f->divergence.recorded, sizeof(f->divergence.recorded),
			"the tape is cut at byte %llu: %s", (unsigned long long)at, damage);
	else
		describe(f->divergence.recorded, sizeof(f->divergence.recorded),
			"nothing more came");
}

static const char *flags_text(uint32_t flags)
{
	return flags & FRAME_NET_RESET ? ", broken off,"
	       : flags & FRAME_NET_END ? ", the end,"
				       : "";
}

static char *connect_text(uint32_t stream, bool datagrams, const struct endpoint *to)
{
	char text[ENDPOINT_TEXT];

	endpoint_text(to, text);
	return str_format("connection %u to %s (%s)", stream, text, datagrams ? "udp" : "tcp");
}

static struct endpoint endpoint_of(const struct tape_connect *c)
{
	struct endpoint to = {.family = c->family, .port = c->port};

	memcpy(to.ip, c->ip, sizeof(to.ip));
	return to;
}

enum { SHOWN = 48 };

static char *sent_text(
	uint32_t stream, uint32_t flags, uint64_t len, const void *data, size_t shown)
{
	autofree char *some = str_printable(data, shown, SHOWN);

	return str_format("%llu bytes%s sent on connection %u: %s", (unsigned long long)len,
		flags_text(flags), stream, some);
}

static char *record_text(const struct feed *f, const struct next *n)
{
	struct endpoint to = endpoint_of(&n->connect);

	switch (f->next.kind) {
	case TAPE_CONNECT:
		return connect_text(n->connect.stream, n->connect.datagrams, &to);
	case TAPE_RECEIVED:
		return str_format("%zu bytes%s on connection %u", n->received.len,
			flags_text(n->received.flags), n->received.stream);
	case TAPE_SENT:
		return sent_text(n->sent.stream, n->sent.flags, n->sent.bytes, n->sent.shown,
			n->sent.shown_len);
	default:
		return n->in.signal ? str_format("signal %u", n->in.signal)
				    : str_format("%zu bytes%s", n->in.len,
					      n->in.flags & TAPE_INPUT_END ? ", the end," : "");
	}
}

static void describe_record(struct feed *f, const struct next *n)
{
	autofree char *what = record_text(f, n);

	describe(f->divergence.recorded, sizeof(f->divergence.recorded),
		"%s for task %u at %llu ns (question %llu)", what, f->next.task,
		(unsigned long long)f->next.now_ns, (unsigned long long)n->request);
}

static int differs(struct feed *f, const struct next *n)
{
	diverge(f, "DifferentRecord", f->next.ordinal);
	describe_record(f, n);
	return 0;
}

static int replay_stdin(
	struct feed *f, const struct next *n, struct feed_answer *ret, struct error *err)
{
	size_t passed = 0;

	if (n->in.signal) {
		f->has_next = false;
		feed_answered(f, ret, f->next.now_ns, FRAME_INPUT_SIGNAL);
		ret->signal = n->in.signal;
		return 1;
	}
	if (f->to >= 0 && n->in.len && feed_pass(f, n->in.data, n->in.len, &passed, err) < 0)
		return -1;
	if (f->to < 0 || passed != n->in.len) {
		describe(f->divergence.made, sizeof(f->divergence.made),
			"the guest left room for %zu bytes only", passed);
		return differs(f, n);
	}
	f->has_next = false;
	feed_answered(f, ret, f->next.now_ns, n->in.flags & TAPE_INPUT_END ? FRAME_INPUT_END : 0);
	ret->len = (uint32_t)passed;
	if (ret->flags) {
		fd_close(&f->to);
		fd_close(&f->from); /* of a resumed run: nobody would take more of it */
	}
	return 1;
}

/* The guest asked for that very connection. */
static bool is_that_connect(const struct feed *f, const struct tape_connect *c)
{
	struct endpoint to = endpoint_of(c);
	struct outside_event e;

	return outside_find(&f->outside, c->stream, &e) && e.datagrams == c->datagrams &&
	       endpoint_equal(&e.to, &to);
}

static int replay_outside(struct feed *f, const struct next *n, struct feed_answer *ret)
{
	bool is_connect = f->next.kind == TAPE_CONNECT;
	struct outside_event e;

	if (is_connect ? !is_that_connect(f, &n->connect)
		       : !outside_find(&f->outside, n->received.stream, &e)) {
		describe(f->divergence.made, sizeof(f->divergence.made),
			"the guest has no such connection");
		return differs(f, n);
	}
	f->has_next = false;
	feed_answered(f, ret, f->next.now_ns, is_connect ? FRAME_NET_CONNECTED : n->received.flags);
	ret->stream = is_connect ? n->connect.stream : n->received.stream;
	ret->error = n->connect.error;
	ret->data = n->received.data;
	ret->len = (uint32_t)n->received.len;
	outside_replayed(&f->outside, ret->stream, is_connect ? 0 : ret->flags, ret->error);
	return 1;
}

/* Up to the question's due nothing came: the record is of a later one. */
static bool is_later(const struct feed *f, const struct next *n)
{
	return f->next.kind == TAPE_SENT ? n->request >= f->ask.request
					 : n->request > f->ask.request;
}

static void leave_journal(struct feed *f)
{
	f->reader = NULL;
	f->asked_ns = clock_host_ns();
	outside_revive(&f->outside);
}

/* The journal has no more: from here on the source is asked. */
static int go_live(struct feed *f, struct feed_answer *ret, struct error *err)
{
	if (f->ask.request <= f->known && f->ask.due_ns != UINT64_MAX)
		return feed_answered(f, ret, f->ask.now_ns, 0);
	leave_journal(f);
	return feed_live(f, ret, err);
}

int feed_replay(struct feed *f, struct feed_answer *ret, struct error *err)
{
	struct next n = {0};
	int got = look_ahead(f, &n, err);
	bool has_due = f->ask.due_ns != UINT64_MAX;
	uint64_t at, now = f->next.now_ns;

	if (got < 0)
		return -1;
	if (f->divergence.diverged)
		return 0;
	if (f->signal)
		return feed_answered(f, ret, f->ask.now_ns, FRAME_INPUT_SIGNAL);
	if (got == 0 && f->resumes)
		return go_live(f, ret, err);
	if (has_due && (got > 0 ? is_later(f, &n) : !tape_damage(f->reader, &at)))
		return feed_answered(f, ret, f->ask.now_ns, 0);
	if (got == 0) {
		missing(f);
		describe_ask(f);
		return 0;
	}
	if (f->next.kind == TAPE_SENT || n.request != f->ask.request ||
		f->next.task != f->ask.task || now < f->ask.now_ns ||
		now - f->ask.now_ns >= feed_room_ns(f)) {
		describe_ask(f);
		return differs(f, &n);
	}
	if (f->next.kind == TAPE_CONNECT || f->next.kind == TAPE_RECEIVED)
		return replay_outside(f, &n, ret);
	return replay_stdin(f, &n, ret, err);
}

int feed_replay_sent(struct feed *f, const struct feed_sent *sent, const struct tape_sent *made,
	struct error *err)
{
	struct next n = {0};
	int got = look_ahead(f, &n, err);
	autofree char *text = NULL;

	if (got < 0)
		return -1;
	if (f->divergence.diverged)
		return 0;
	if (got > 0 && f->next.kind == TAPE_SENT && n.sent.stream == made->stream &&
		n.sent.flags == made->flags && n.request == made->request &&
		n.sent.bytes == made->bytes && f->next.now_ns == sent->now_ns &&
		memcmp(n.sent.sha256, made->sha256, sizeof(made->sha256)) == 0) {
		f->has_next = false;
		return 0;
	}
	if (got == 0 && f->resumes) {
		leave_journal(f);
		return 0;
	}
	if (got > 0)
		differs(f, &n);
	else
		missing(f);
	text = sent_text(made->stream, made->flags, made->bytes, made->shown, made->shown_len);
	describe(f->divergence.made, sizeof(f->divergence.made), "%s at %llu ns (question %llu)",
		text, (unsigned long long)sent->now_ns, (unsigned long long)made->request);
	return 0;
}

int feed_replay_end(struct feed *f, struct error *err)
{
	struct next n = {0};
	int got = look_ahead(f, &n, err);

	if (got <= 0)
		return got;
	diverge(f, "SurplusRecord", f->next.ordinal);
	describe_record(f, &n);
	describe(f->divergence.made, sizeof(f->divergence.made), "the run has ended");
	return 0;
}
