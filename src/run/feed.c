/* SPDX-License-Identifier: Apache-2.0 */
/* Input from outside, on request: see feed.h. */
#include "run/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "crypto/digest.h"
#include "run/feed_replay.h"
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
uint64_t feed_room_ns(const struct feed *f)
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
	uint64_t room = feed_room_ns(f), waited = f->debt_ns, until = 0, other;

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
int feed_pass(struct feed *f, const unsigned char *data, size_t len, size_t *ret, struct error *err)
{
	ssize_t n = write(f->to, data, len);

	if (n < 0 && errno != EAGAIN && errno != EPIPE)
		return error_sys(err, "write the guest's standard input");
	*ret = n > 0 ? (size_t)n : 0;
	f->total += *ret;
	return 0;
}

int feed_answered(struct feed *f, struct feed_answer *ret, uint64_t now_ns, uint32_t flags)
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
	if (f->len && feed_pass(f, f->data, f->len, &passed, err) < 0)
		return -1;
	if (f->len && !passed)
		return 0;
	feed_answered(f, ret, move(f, waited), passed ? 0 : FRAME_INPUT_END);
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
	feed_answered(f, ret, move(f, waited), e.flags);
	ret->stream = e.stream;
	ret->error = e.error;
	ret->datagrams = e.datagrams;
	ret->to = e.to;
	ret->data = e.data;
	ret->len = (uint32_t)e.len;
	keep(f, ret, e.data);
	return 1;
}

int feed_live(struct feed *f, struct feed_answer *ret, struct error *err)
{
	uint64_t waited = f->debt_ns + (clock_host_ns() - f->asked_ns);
	int r;

	if (f->signal) {
		uint32_t sig = f->signal;

		feed_answered(f, ret, f->ask.now_ns, FRAME_INPUT_SIGNAL);
		ret->signal = sig;
		keep(f, ret, NULL);
		return 1;
	}
	if (read_source(f, err) < 0)
		return -1;
	if (waited >= feed_room_ns(f)) {
		f->debt_ns = 0;
		return feed_answered(f, ret, f->ask.now_ns, 0);
	}
	r = step_stdin(f, waited, ret, err);
	if (r == 0)
		r = step_outside(f, waited, ret);
	/* Nobody takes out what is there, and nothing else can come. */
	if (r == 0 && f->ask.due_ns == UINT64_MAX && (f->len || f->from < 0) &&
		!outside_can_come(&f->outside))
		return feed_answered(f, ret, f->ask.now_ns, FRAME_INPUT_NO_ROOM);
	return r;
}

int feed_step(struct feed *f, struct feed_answer *ret, struct error *err)
{
	if (!f->has_ask || f->divergence.diverged)
		return 0;
	return f->reader ? feed_replay(f, ret, err) : feed_live(f, ret, err);
}

int feed_connect(struct feed *f, uint32_t stream, bool datagrams, const struct endpoint *to,
	struct error *err)
{
	if (outside_connect(&f->outside, stream, datagrams, to) < 0)
		return error_set(
			err, ERR_FORMAT, "a connection %u that cannot be asked for", stream);
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
	if (f->reader && feed_replay_sent(f, sent, &made, err) < 0)
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
	if (f->reader && !f->divergence.diverged)
		return feed_replay_end(f, err);
	outside_linger(&f->outside);
	return 0;
}
