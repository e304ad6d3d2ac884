/* SPDX-License-Identifier: Apache-2.0 */
/* The loop that serves one program: see streams.h. */
#include "sandbox/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"

enum { CHUNK = 64 * 1024, MS_NS = 1000000, LATE_READS = 64 };

/* Input that was read and not yet taken by the program. */
struct pending {
	unsigned char *data; /* CHUNK bytes, owned */
	size_t len, sent;
};

int streams_open(struct streams *s, const struct sandbox_exec *x, struct sandbox_result *result,
	struct error *err)
{
	int *const ours[3] = {&s->in, &s->out, &s->err};

	*s = (struct streams){.exec = x,
		.result = result,
		.in = -1,
		.out = -1,
		.err = -1,
		.guest = {-1, -1, -1},
		.event = -1};
	for (int i = 0; i < 3; i++) {
		int ends[2];

		if (pipe2(ends, O_CLOEXEC) < 0)
			return error_sys(err, "create a pipe");
		*ours[i] = ends[i == 0];
		s->guest[i] = ends[i != 0];
		if (fcntl(*ours[i], F_SETFL, O_NONBLOCK) < 0)
			return error_sys(err, "make a pipe non-blocking");
	}
	if (x->input < 0)
		fd_close(&s->in);
	return 0;
}

void streams_started(struct streams *s)
{
	for (int i = 0; i < 3; i++)
		fd_close(&s->guest[i]);
}

void streams_close(struct streams *s)
{
	streams_started(s);
	fd_close(&s->in);
	fd_close(&s->out);
	fd_close(&s->err);
}

/* One read of an output; past the cap it is counted and dropped. */
static int take_output(struct streams *s, enum sandbox_stream stream, struct error *err)
{
	uint64_t *bytes = stream == SANDBOX_OUT ? &s->result->out_bytes : &s->result->err_bytes;
	bool *truncated =
		stream == SANDBOX_OUT ? &s->result->out_truncated : &s->result->err_truncated;
	uint64_t max = s->exec->output_max ? s->exec->output_max : SANDBOX_OUTPUT_MAX, room;
	int *fd = stream == SANDBOX_OUT ? &s->out : &s->err;
	unsigned char data[CHUNK];
	ssize_t n = read(*fd, data, sizeof(data));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		fd_close(fd);
		return 0;
	}
	room = *bytes < max ? max - *bytes : 0;
	*bytes += (uint64_t)n;
	if ((uint64_t)n > room)
		*truncated = true;
	else
		room = (uint64_t)n;
	return room && s->exec->sink ? s->exec->sink(s->exec->sink_arg, stream, data, room, err)
				     : 0;
}

/* A program that reads no more loses its input, and is none the worse for it. */
static void give_input(struct streams *s, struct pending *p)
{
	ssize_t n;

	if (p->sent == p->len) {
		n = read(s->exec->input, p->data, CHUNK);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			return;
		p->sent = 0;
		p->len = n > 0 ? (size_t)n : 0;
		if (!p->len) {
			fd_close(&s->in);
			return;
		}
	}
	n = write(s->in, p->data + p->sent, p->len - p->sent);
	if (n > 0)
		p->sent += (size_t)n;
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		fd_close(&s->in);
}

static int poll_time(uint64_t deadline_ns)
{
	uint64_t now = clock_host_ns();

	if (now >= deadline_ns)
		return 0;
	now = (deadline_ns - now) / MS_NS + 1;
	return now > INT32_MAX ? INT32_MAX : (int)now;
}

struct serving {
	struct streams *s;
	struct pending pending;
	uint64_t deadline_ns;
	bool over;     /* the event source has said its last */
	unsigned late; /* reads after that and after the time */
};

/* The program's input is looked at only while there is room for it, and the other way round. */
static struct pollfd input_poll(const struct serving *v)
{
	bool waits_for_source = v->pending.sent == v->pending.len;

	if (v->s->in < 0)
		return (struct pollfd){.fd = -1};
	if (waits_for_source)
		return (struct pollfd){.fd = v->s->exec->input, .events = POLLIN};
	return (struct pollfd){.fd = v->s->in, .events = POLLOUT};
}

static bool is_killed(const struct streams *s)
{
	return s->result->end == SANDBOX_TIMED_OUT || s->result->end == SANDBOX_STOPPED;
}

static void end_by(struct serving *v, enum sandbox_end end)
{
	if (v->over || is_killed(v->s))
		return;
	v->s->result->end = end;
	v->s->kill(v->s->arg);
}

static int turn(struct serving *v, struct error *err)
{
	struct streams *s = v->s;
	struct pollfd fds[5] = {{.fd = v->over ? -1 : s->event, .events = POLLIN},
		{.fd = s->out, .events = POLLIN}, {.fd = s->err, .events = POLLIN}, input_poll(v),
		{.fd = is_killed(s) ? -1 : s->exec->stop, .events = POLLIN}};
	int wait = is_killed(s) ? -1 : poll_time(v->deadline_ns);

	if (poll(fds, ARRAY_LEN(fds), wait) < 0)
		return errno == EINTR ? 0 : error_sys(err, "poll");
	if (fds[4].revents)
		end_by(v, SANDBOX_STOPPED);
	if (poll_time(v->deadline_ns) == 0)
		end_by(v, SANDBOX_TIMED_OUT);
	if (fds[3].revents)
		give_input(s, &v->pending);
	if ((fds[1].revents && take_output(s, SANDBOX_OUT, err) < 0) ||
		(fds[2].revents && take_output(s, SANDBOX_ERR, err) < 0))
		return -1;
	return fds[0].revents ? s->on_event(s->arg, &v->over, err) : 0;
}

/*
 * All is said. Whoever was handed an output by the program may hold it open for ever: after its
 * end nobody waits for more than there is once the time is over.
 */
static bool is_done(struct serving *v)
{
	struct pollfd fds[2] = {
		{.fd = v->s->out, .events = POLLIN}, {.fd = v->s->err, .events = POLLIN}};

	if (!v->over)
		return false;
	if (v->s->out < 0 && v->s->err < 0)
		return true;
	if (!is_killed(v->s) && poll_time(v->deadline_ns) > 0)
		return false;
	return ++v->late > LATE_READS || poll(fds, ARRAY_LEN(fds), 0) <= 0;
}

int streams_serve(struct streams *s, struct error *err)
{
	autofree unsigned char *data = mem_alloc(CHUNK);
	struct serving v = {
		.s = s, .pending = {.data = data}, .deadline_ns = clock_host_ns() + s->timeout_ns};
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	uint64_t from = clock_host_ns();
	int r = 0;

	sigaction(SIGPIPE, &ignore, &before);
	while (r == 0 && !is_done(&v)) {
		r = turn(&v, err);
		if (v.over)
			fd_close(&s->in);
	}
	if (r < 0)
		s->kill(s->arg);
	sigaction(SIGPIPE, &before, NULL);
	s->result->duration_ns = clock_host_ns() - from;
	return r;
}
