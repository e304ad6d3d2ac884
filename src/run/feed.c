/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input from outside, on request: see feed.h. */
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
	flags = fcntl(to, F_GETFL);
	if (flags < 0 || fcntl(to, F_SETFL, flags | O_NONBLOCK) < 0)
		return error_sys(err, "the guest's standard input");
	if (f->reader && tape_seek(f->reader, 1, err) < 0)
		return -1;
	return 0;
}

int feed_put_ask(struct feed *f, const struct feed_ask *ask, struct error *err)
{
	if (f->to < 0 || f->has_ask || ask->request != f->last_request + 1)
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
	if (!f->has_ask || f->reader || f->from < 0 || f->len > 0)
		return 0;
	fds[0] = (struct pollfd){.fd = f->from, .events = POLLIN};
	return 1;
}

uint64_t feed_deadline_ns(const struct feed *f)
{
	uint64_t room = room_ns(f), waited = f->debt_ns;

	if (!f->has_ask || f->divergence.diverged || room == UINT64_MAX)
		return 0;
	return f->asked_ns + (room > waited ? room - waited : 0) + 1;
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

static int step_live(struct feed *f, struct feed_answer *ret, struct error *err)
{
	uint64_t waited = f->debt_ns + (clock_host_ns() - f->asked_ns), moved = 0;
	size_t passed = 0;

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
	if (!f->len && !f->has_ended)
		return 0;
	if (f->len && pass(f, f->data, f->len, &passed, err) < 0)
		return -1;
	if (f->len && !passed)
		return f->ask.due_ns == UINT64_MAX
			       ? answered(f, ret, f->ask.now_ns, FRAME_INPUT_NO_ROOM)
			       : 0;
	moved = waited >= FEED_AT_ONCE_NS ? waited : 0;
	f->debt_ns = waited - moved;
	answered(f, ret, f->ask.now_ns + moved, passed ? 0 : FRAME_INPUT_END);
	ret->len = (uint32_t)passed;
	keep(f, ret, f->data);
	f->len -= passed;
	memmove(f->data, f->data + passed, f->len);
	if (!passed)
		fd_close(&f->to);
	return 1;
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

/* The tape's next record of input; 1, 0, -1. */
static int look_ahead(struct feed *f, struct tape_input *ret, struct error *err)
{
	int got = f->has_next ? 1 : 0;

	while (!f->has_next && !f->is_over) {
		got = tape_next(f->reader, &f->next, err);
		if (got < 0)
			return -1;
		f->is_over = got == 0;
		f->has_next = got > 0 && f->next.kind != TAPE_OUTCOME;
	}
	if (!f->has_next)
		return 0;
	if (tape_input_decode(&f->next, ret) < 0) {
		f->has_next = false;
		diverge(f, "UnknownRecord", f->next.ordinal);
		describe(f->divergence.recorded, sizeof(f->divergence.recorded),
			"a record of input that is none");
		describe(f->divergence.made, sizeof(f->divergence.made), "nothing can be given");
		return 0;
	}
	return 1;
}

static void missing(struct feed *f)
{
	uint64_t at = 0;
	const char *damage = tape_damage(f->reader, &at);

	diverge(f, "MissingRecord", f->next.ordinal + 1);
	describe_ask(f);
	if (damage)
		describe(f->divergence.recorded, sizeof(f->divergence.recorded),
			"the tape is cut at byte %llu: %s", (unsigned long long)at, damage);
	else
		describe(f->divergence.recorded, sizeof(f->divergence.recorded),
			"nothing more came");
}

static void describe_record(struct feed *f, const struct tape_input *in)
{
	autofree char *what = in->signal ? str_format("signal %u", in->signal)
					 : str_format("%zu bytes%s", in->len,
						   in->flags & TAPE_INPUT_END ? ", the end," : "");

	describe(f->divergence.recorded, sizeof(f->divergence.recorded),
		"%s for task %u at %llu ns (question %llu)", what, f->next.task,
		(unsigned long long)f->next.now_ns, (unsigned long long)in->request);
}

static int step_replay(struct feed *f, struct feed_answer *ret, struct error *err)
{
	struct tape_input in = {0};
	size_t passed = 0;
	int got = look_ahead(f, &in, err);
	uint64_t at, now = f->next.now_ns;

	if (got < 0)
		return -1;
	if (f->divergence.diverged)
		return 0;
	if (f->signal)
		return answered(f, ret, f->ask.now_ns, FRAME_INPUT_SIGNAL);
	if (got > 0 && in.request > f->ask.request && f->ask.due_ns != UINT64_MAX)
		return answered(f, ret, f->ask.now_ns, 0);
	if (got == 0 && f->ask.due_ns != UINT64_MAX && !tape_damage(f->reader, &at))
		return answered(f, ret, f->ask.now_ns, 0);
	if (got == 0) {
		missing(f);
		return 0;
	}
	if (in.request != f->ask.request || f->next.task != f->ask.task || now < f->ask.now_ns ||
		now - f->ask.now_ns >= room_ns(f)) {
		diverge(f, "DifferentRecord", f->next.ordinal);
		describe_ask(f);
		describe_record(f, &in);
		return 0;
	}
	if (in.signal) {
		f->has_next = false;
		answered(f, ret, now, FRAME_INPUT_SIGNAL);
		ret->signal = in.signal;
		return 1;
	}
	if (in.len && pass(f, in.data, in.len, &passed, err) < 0)
		return -1;
	if (passed != in.len) {
		diverge(f, "DifferentRecord", f->next.ordinal);
		describe_record(f, &in);
		describe(f->divergence.made, sizeof(f->divergence.made),
			"the guest left room for %zu bytes only", passed);
		return 0;
	}
	f->has_next = false;
	answered(f, ret, now, in.flags & TAPE_INPUT_END ? FRAME_INPUT_END : 0);
	ret->len = (uint32_t)passed;
	if (ret->flags)
		fd_close(&f->to);
	return 1;
}

int feed_step(struct feed *f, struct feed_answer *ret, struct error *err)
{
	if (!f->has_ask || f->divergence.diverged)
		return 0;
	return f->reader ? step_replay(f, ret, err) : step_live(f, ret, err);
}

int feed_end(struct feed *f, struct error *err)
{
	struct tape_input in = {0};
	int got;

	if (!f->reader || f->divergence.diverged)
		return 0;
	got = look_ahead(f, &in, err);
	if (got <= 0)
		return got;
	diverge(f, "SurplusRecord", f->next.ordinal);
	describe_record(f, &in);
	describe(f->divergence.made, sizeof(f->divergence.made), "the run has ended");
	return 0;
}
