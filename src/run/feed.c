/* SPDX-License-Identifier: Apache-2.0 */
/* Input from outside, on request: see feed.h. */
#include "run/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "crypto/digest.h"
#include "tape/input.h"
#include "wire/frame.h"

enum { ROOM = 64 * 1024 }; /* of a pipe */

void feed_init(struct feed *f)
{
	*f = (struct feed){.from = -1, .to = -1};
}

void feed_finish(struct feed *f)
{
	fd_close(&f->from);
	fd_close(&f->to);
	free(f->data);
	outside_finish(&f->outside);
	feed_init(f);
}

int feed_start(struct feed *f, int from, int to, struct error *err)
{
	int flags;

	fd_close(&f->from);
	fd_close(&f->to);
	f->from = from;
	f->to = to;
	if (!f->data)
		f->data = mem_alloc(ROOM);
	f->len = 0;
	f->debt_ns = f->last_request = 0;
	f->has_ended = f->has_ask = f->has_next = f->is_over = false;
	f->signal = 0;
	outside_finish(&f->outside);
	f->outside.is_live = !f->reader;
	flags = to < 0 ? 0 : fcntl(to, F_GETFL);
	if (flags < 0 || (to >= 0 && fcntl(to, F_SETFL, flags | O_NONBLOCK) < 0))
		return error_sys(err, "the guest's standard input");
	if (f->reader && tape_seek(f->reader, 1, err) < 0)
		return -1;
	return 0;
}

int feed_put_ask(struct feed *f, const struct feed_ask *ask, struct error *err)
{
	if ((f->to < 0 && !f->outside.network) || f->has_ask || ask->request != f->last_request + 1)
		return error_set(err, ERR_FORMAT, "question %llu for input out of its turn",
			(unsigned long long)ask->request);
	f->ask = *ask;
	f->last_request = ask->request;
	f->has_ask = true;
	f->asked_ns = clock_host_ns();
	return 0;
}

void feed_signal(struct feed *f, uint32_t sig)
{
	f->signal = f->has_ask ? sig : 0;
}

/* What the guest's clock may go forward before its next timer. */
static uint64_t room_ns(const struct feed *f)
{
	return f->ask.due_ns == UINT64_MAX ? UINT64_MAX : f->ask.due_ns - f->ask.now_ns;
}

size_t feed_poll(const struct feed *f, struct pollfd *fds)
{
	bool is_asked = f->has_ask && !f->reader;
	size_t n = outside_poll(&f->outside, is_asked, fds);

	if (is_asked && f->from >= 0 && f->len == 0)
		fds[n++] = (struct pollfd){.fd = f->from, .events = POLLIN};
	return n;
}

uint64_t feed_deadline_ns(const struct feed *f)
{
	uint64_t room = room_ns(f), waited = f->debt_ns, until = 0, other;

	if (!f->has_ask || f->divergence.diverged)
		return 0;
	if (room != UINT64_MAX)
		until = f->asked_ns + (room > waited ? room - waited : 0) + 1;
	other = f->reader ? 0 : outside_deadline_ns(&f->outside);
	return other && (!until || other < until) ? other : until;
}

/* Reads what is there, without waiting. */
static int read_source(struct feed *f, struct error *err)
{
	struct pollfd p = {.fd = f->from, .events = POLLIN};
	ssize_t n;

	if (f->len > 0 || f->from < 0 || poll(&p, 1, 0) <= 0)
		return 0;
	n = read(f->from, f->data, ROOM);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n < 0)
		return error_sys(err, "read standard input");
	f->len = (size_t)n;
	if (f->skip) {
		size_t dropped = f->skip < f->len ? (size_t)f->skip : f->len;

		f->skip -= dropped;
		f->len -= dropped;
		memmove(f->data, f->data + dropped, f->len);
	}
	if (n == 0) {
		fd_close(&f->from);
		f->has_ended = true;
	}
	return 0;
}

/* Into the guest's pipe: how much of it; 0 when it is full. */
static int pass(
	struct feed *f, const unsigned char *data, size_t len, size_t *ret, struct error *err)
{
	ssize_t n = write(f->to, data, len);

	if (n < 0 && errno != EAGAIN && errno != EPIPE)
		return error_sys(err, "write the guest's standard input");
	*ret = n > 0 ? (size_t)n : 0;
	f->total += *ret;
	return 0;
}

static int answered(struct feed *f, struct feed_answer *ret, uint64_t now_ns, uint32_t flags)
{
	*ret = (struct feed_answer){.request = f->ask.request, .now_ns = now_ns, .flags = flags};
	f->has_ask = false;
	f->signal = 0;
	return 1;
}

/* What goes wrong is told by the owner, who finds `failed`. */
static void keep(struct feed *f, const struct feed_answer *answer, const void *data)
{
	struct error err = {0};

	if (f->record && f->record(f->arg, &f->ask, answer, data, &err) < 0 && !f->failed.code)
		f->failed = err;
}

/* Something came now: how far the guest's clock moves. */
static uint64_t move(struct feed *f, uint64_t waited)
{
	uint64_t moved = waited >= FEED_AT_ONCE_NS ? waited : 0;

	f->debt_ns = waited - moved;
	return f->ask.now_ns + moved;
}

/* Standard input: 1 and an answer; 0: there is nothing, or no room for it. */
static int step_stdin(struct feed *f, uint64_t waited, struct feed_answer *ret, struct error *err)
{
	size_t passed = 0;

	if (!f->len && !f->has_ended)
		return 0;
	if (f->len && pass(f, f->data, f->len, &passed, err) < 0)
		return -1;
	if (f->len && !passed)
		return 0;
	answered(f, ret, move(f, waited), passed ? 0 : FRAME_INPUT_END);
	ret->len = (uint32_t)passed;
	keep(f, ret, f->data);
	f->len -= passed;
	memmove(f->data, f->data + passed, f->len);
	f->has_ended = f->has_ended && passed;
	if (!passed)
		fd_close(&f->to);
	return 1;
}

static int step_outside(struct feed *f, uint64_t waited, struct feed_answer *ret)
{
	struct outside_event e;

	if (!outside_next(&f->outside, &e))
		return 0;
	answered(f, ret, move(f, waited), e.flags);
	ret->stream = e.stream;
	ret->error = e.error;
	ret->datagrams = e.datagrams;
	ret->to = e.to;
	ret->data = e.data;
	ret->len = (uint32_t)e.len;
	keep(f, ret, e.data);
	return 1;
}

static int step_live(struct feed *f, struct feed_answer *ret, struct error *err)
{
	uint64_t waited = f->debt_ns + (clock_host_ns() - f->asked_ns);
	int r;

	if (f->signal) {
		uint32_t sig = f->signal;

		answered(f, ret, f->ask.now_ns, FRAME_INPUT_SIGNAL);
		ret->signal = sig;
		keep(f, ret, NULL);
		return 1;
	}
	if (read_source(f, err) < 0)
		return -1;
	if (waited >= room_ns(f)) {
		f->debt_ns = 0;
		return answered(f, ret, f->ask.now_ns, 0);
	}
	r = step_stdin(f, waited, ret, err);
	if (r == 0)
		r = step_outside(f, waited, ret);
	/* Nobody takes out what is there, and nothing else can come. */
	if (r == 0 && f->ask.due_ns == UINT64_MAX && (f->len || f->from < 0) &&
		!outside_can_come(&f->outside))
		return answered(f, ret, f->ask.now_ns, FRAME_INPUT_NO_ROOM);
	return r;
}

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
		answered(f, ret, f->next.now_ns, FRAME_INPUT_SIGNAL);
		ret->signal = n->in.signal;
		return 1;
	}
	if (f->to >= 0 && n->in.len && pass(f, n->in.data, n->in.len, &passed, err) < 0)
		return -1;
	if (f->to < 0 || passed != n->in.len) {
		describe(f->divergence.made, sizeof(f->divergence.made),
			"the guest left room for %zu bytes only", passed);
		return differs(f, n);
	}
	f->has_next = false;
	answered(f, ret, f->next.now_ns, n->in.flags & TAPE_INPUT_END ? FRAME_INPUT_END : 0);
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
	answered(f, ret, f->next.now_ns, is_connect ? FRAME_NET_CONNECTED : n->received.flags);
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
		return answered(f, ret, f->ask.now_ns, 0);
	leave_journal(f);
	return step_live(f, ret, err);
}

static int step_replay(struct feed *f, struct feed_answer *ret, struct error *err)
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
		return answered(f, ret, f->ask.now_ns, FRAME_INPUT_SIGNAL);
	if (got == 0 && f->resumes)
		return go_live(f, ret, err);
	if (has_due && (got > 0 ? is_later(f, &n) : !tape_damage(f->reader, &at)))
		return answered(f, ret, f->ask.now_ns, 0);
	if (got == 0) {
		missing(f);
		describe_ask(f);
		return 0;
	}
	if (f->next.kind == TAPE_SENT || n.request != f->ask.request ||
		f->next.task != f->ask.task || now < f->ask.now_ns ||
		now - f->ask.now_ns >= room_ns(f)) {
		describe_ask(f);
		return differs(f, &n);
	}
	if (f->next.kind == TAPE_CONNECT || f->next.kind == TAPE_RECEIVED)
		return replay_outside(f, &n, ret);
	return replay_stdin(f, &n, ret, err);
}

int feed_step(struct feed *f, struct feed_answer *ret, struct error *err)
{
	if (!f->has_ask || f->divergence.diverged)
		return 0;
	return f->reader ? step_replay(f, ret, err) : step_live(f, ret, err);
}

int feed_connect(struct feed *f, uint32_t stream, bool datagrams, const struct endpoint *to,
	struct error *err)
{
	if (outside_connect(&f->outside, stream, datagrams, to) < 0)
		return error_set(
			err, ERR_FORMAT, "a connection %u that cannot be asked for", stream);
	return 0;
}

/* Is it what the recorded run sent, there and then? */
static int compare_sent(struct feed *f, const struct feed_sent *sent, const struct tape_sent *made,
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

int feed_sent(struct feed *f, const struct feed_sent *sent, struct error *err)
{
	struct tape_sent made = {.stream = sent->stream,
		.flags = sent->flags,
		.request = f->last_request,
		.bytes = sent->len,
		.shown = sent->data,
		.shown_len = sent->len < TAPE_SENT_SHOWN ? sent->len : TAPE_SENT_SHOWN};
	struct error failed = {0};

	if (!f->outside.network)
		return error_set(err, ERR_FORMAT, "something was sent where nothing can be");
	if (f->divergence.diverged)
		return 0;
	if (f->reader || f->record_sent)
		digest_raw(sent->data, sent->len, made.sha256);
	if (f->reader && compare_sent(f, sent, &made, err) < 0)
		return -1;
	/* What a journal has already is not written there again. */
	if (!f->reader && f->record_sent &&
		f->record_sent(f->arg, &made, sent->now_ns, &failed) < 0 && !f->failed.code)
		f->failed = failed;
	outside_sent(&f->outside, sent->stream, sent->flags, sent->data, sent->len);
	return 0;
}

int feed_end(struct feed *f, struct error *err)
{
	struct next n = {0};
	int got;

	if (!f->reader || f->divergence.diverged) {
		outside_linger(&f->outside);
		return 0;
	}
	got = look_ahead(f, &n, err);
	if (got <= 0)
		return got;
	diverge(f, "SurplusRecord", f->next.ordinal);
	describe_record(f, &n);
	describe(f->divergence.made, sizeof(f->divergence.made), "the run has ended");
	return 0;
}
