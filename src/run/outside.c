/* SPDX-License-Identifier: Apache-2.0 */
/* The true ends of a guest's connections: see outside.h. */
#include "run/outside.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/network.h"
#include "wire/frame.h"

enum { FULL = 16 * 1024 * 1024, SAID_MAX = 16, LINGER_MS = 10000 };
/* tcp(7): as the kernel gives up by itself. */
static const uint64_t gives_up_ns = 127000000000;

enum state { CONNECTING, DECIDED, OPEN };

struct outside_stream {
	uint32_t id;
	bool datagrams;
	enum state state;
	int result; /* errno, when DECIDED */
	int fd;	    /* -1: there is none */
	struct endpoint to;
	uint64_t deadline_ns;
	bool wanted;
	bool is_stuck; /* it has more than the guest wants, which is done sending */
	bool guest_ended, was_shut, peer_ended;
	bool is_lost; /* broken off, which the guest does not know yet */
	struct bytes out;
	size_t out_at;
};

static void stream_finish(struct outside_stream *s)
{
	fd_close(&s->fd);
	bytes_finish(&s->out);
}

void outside_finish(struct outside *o)
{
	for (size_t i = 0; i < o->count; i++)
		stream_finish(&o->streams[i]);
	free(o->streams);
	free(o->room);
	o->streams = NULL;
	o->room = NULL;
	o->count = o->refused = 0;
	o->last = 0;
}

static struct outside_stream *find(const struct outside *o, uint32_t id)
{
	for (size_t i = 0; i < o->count; i++)
		if (o->streams[i].id == id)
			return &o->streams[i];
	return NULL;
}

static void forget(struct outside *o, struct outside_stream *s)
{
	size_t at = (size_t)(s - o->streams);

	stream_finish(s);
	o->count--;
	memmove(s, s + 1, (o->count - at) * sizeof(*s));
}

void outside_replayed(struct outside *o, uint32_t stream, uint32_t flags, uint32_t error)
{
	struct outside_stream *s = find(o, stream);

	if (!s)
		return;
	s->state = OPEN;
	s->peer_ended |= (flags & FRAME_NET_END) != 0;
	if (error || (flags & FRAME_NET_RESET) || (s->peer_ended && s->guest_ended))
		forget(o, s);
}

static int refuse(struct outside *o, const struct endpoint *to)
{
	char text[ENDPOINT_TEXT];
	autofree char *line = NULL;

	if (endpoint_is_loopback(to))
		return ECONNREFUSED; /* the guest's own, where nobody listens */
	endpoint_text(to, text);
	line = str_format("refused: a connection to %s, which --network '%.200s' does not name",
		text, o->network);
	if (o->say && o->refused++ < SAID_MAX)
		o->say(line);
	return EACCES;
}

/* 0, EINPROGRESS, or why not. */
static int begin(struct outside *o, struct outside_stream *s)
{
	struct sockaddr_storage address;
	struct endpoint real;
	socklen_t len;
	const int yes = 1;

	if (!network_allows(o->network, &s->to))
		return refuse(o, &s->to);
	network_real(&s->to, &real);
	len = endpoint_to(&real, &address);
	s->fd = socket(address.ss_family,
		(s->datagrams ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0)
		return errno == EMFILE || errno == ENFILE ? ENOBUFS : errno;
	if (!s->datagrams && setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)) < 0)
		return errno;
	return connect(s->fd, (const struct sockaddr *)&address, len) < 0 ? errno : 0;
}

int outside_connect(struct outside *o, uint32_t stream, bool datagrams, const struct endpoint *to)
{
	struct outside_stream *s;

	if (!o->network || !stream || find(o, stream) || o->count >= OUTSIDE_MAX)
		return -1;
	o->streams = mem_grow(o->streams, o->count + 1, sizeof(*o->streams));
	s = &o->streams[o->count++];
	*s = (struct outside_stream){.id = stream, .datagrams = datagrams, .to = *to, .fd = -1};
	if (!o->is_live)
		return 0;
	s->result = begin(o, s);
	s->state = s->result == EINPROGRESS ? CONNECTING : DECIDED;
	s->deadline_ns = clock_host_ns() + gives_up_ns;
	return 0;
}

void outside_revive(struct outside *o)
{
	o->is_live = true;
	for (size_t i = 0; i < o->count; i++) {
		struct outside_stream *s = &o->streams[i];
		bool was_made = s->state == OPEN;

		if (was_made && !s->datagrams) {
			s->is_lost = true;
			continue;
		}
		s->result = begin(o, s);
		s->state = was_made ? OPEN : s->result == EINPROGRESS ? CONNECTING : DECIDED;
		s->deadline_ns = clock_host_ns() + gives_up_ns;
	}
}

/* As far as the network takes it. */
static void flush(struct outside_stream *s)
{
	while (s->out_at < s->out.len) {
		ssize_t n = send(s->fd, s->out.data + s->out_at, s->out.len - s->out_at,
			MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) /* what comes in says why */
			break;
		s->out_at += (size_t)n;
	}
	s->out.len = s->out_at = 0;
	if (s->guest_ended && !s->was_shut && !s->datagrams)
		s->was_shut = shutdown(s->fd, SHUT_WR) == 0 || errno != EAGAIN;
}

void outside_flush(struct outside *o)
{
	for (size_t i = 0; i < o->count; i++)
		if (o->streams[i].state == OPEN && o->streams[i].fd >= 0)
			flush(&o->streams[i]);
}

static void reset(struct outside *o, struct outside_stream *s)
{
	const struct linger at_once = {.l_onoff = 1};
	ssize_t ignored UNUSED =
		s->fd < 0 ? 0 : setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));

	forget(o, s);
}

void outside_sent(struct outside *o, uint32_t stream, uint32_t flags, const void *data, size_t len)
{
	struct outside_stream *s = find(o, stream);

	if (!s)
		return;
	if ((flags & FRAME_NET_RESET) || (s->datagrams && (flags & FRAME_NET_END))) {
		reset(o, s);
		return;
	}
	s->guest_ended |= (flags & FRAME_NET_END) != 0;
	if (s->datagrams && s->fd >= 0) {
		/* One that finds no room is lost, as anywhere. */
		ssize_t ignored UNUSED = send(s->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		return;
	}
	if (s->fd >= 0) {
		bytes_put(&s->out, data, len);
		flush(s);
	}
	if (s->guest_ended && s->peer_ended && s->out.len == 0)
		forget(o, s);
}

void outside_wanted(struct outside *o, uint32_t stream)
{
	struct outside_stream *s = find(o, stream);

	if (s) {
		s->wanted = true;
		s->is_stuck = false;
	}
}

static bool is_open(const struct outside_stream *s)
{
	return s->state == OPEN && s->fd >= 0 && !s->peer_ended;
}

/* A guest that is done with sending may be done altogether: then only the end matters. */
static bool looks_for_end(const struct outside_stream *s)
{
	return is_open(s) && s->guest_ended && !s->wanted && !s->is_stuck && !s->datagrams;
}

static bool has_decided(struct outside_stream *s)
{
	struct pollfd p = {.fd = s->fd, .events = POLLOUT};
	socklen_t len = sizeof(s->result);

	if (s->state == DECIDED)
		return true;
	if (s->state != CONNECTING)
		return false;
	if (poll(&p, 1, 0) > 0) {
		if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &s->result, &len) < 0)
			s->result = errno;
		return true;
	}
	s->result = ETIMEDOUT;
	return clock_host_ns() >= s->deadline_ns;
}

static void fill(const struct outside_stream *s, struct outside_event *ret)
{
	*ret = (struct outside_event){.stream = s->id, .datagrams = s->datagrams, .to = s->to};
}

static void take_decision(struct outside *o, struct outside_stream *s, struct outside_event *ret)
{
	fill(s, ret);
	ret->flags = FRAME_NET_CONNECTED;
	ret->error = (uint32_t)s->result;
	s->state = OPEN;
	if (s->result)
		forget(o, s);
}

/* True and what came. */
static bool take_bytes(struct outside *o, struct outside_stream *s, struct outside_event *ret)
{
	int flags = MSG_DONTWAIT | (s->wanted ? 0 : MSG_PEEK);
	ssize_t n;

	if (!o->room)
		o->room = mem_alloc(OUTSIDE_ROOM);
	n = recv(s->fd, o->room, OUTSIDE_ROOM, flags);
	if (n < 0 && (errno == EAGAIN || errno == EINTR || s->datagrams))
		return false; /* of datagrams: nobody is there, which the guest's time-out finds */
	if (n > 0 && !s->wanted) {
		s->is_stuck = true;
		return false;
	}
	fill(s, ret);
	s->wanted = false;
	if (n < 0) {
		ret->flags = FRAME_NET_RESET;
		forget(o, s);
		return true;
	}
	ret->data = o->room;
	ret->len = (size_t)n;
	if (n == 0 && !s->datagrams) {
		ret->flags = FRAME_NET_END;
		s->peer_ended = true;
		if (s->guest_ended && s->out.len == 0)
			forget(o, s);
	}
	return true;
}

bool outside_next(struct outside *o, struct outside_event *ret)
{
	/* In turn, so that none that always has something keeps the others waiting. */
	size_t from = 0;

	while (from < o->count && o->streams[from].id <= o->last)
		from++;
	for (size_t i = 0; i < o->count; i++) {
		struct outside_stream *s = &o->streams[(from + i) % o->count];

		o->last = s->id;
		if (s->is_lost) {
			fill(s, ret);
			ret->flags = FRAME_NET_RESET;
			forget(o, s);
			return true;
		}
		if (has_decided(s)) {
			take_decision(o, s, ret);
			return true;
		}
		if (((is_open(s) && s->wanted) || looks_for_end(s)) && take_bytes(o, s, ret))
			return true;
	}
	return false;
}

bool outside_can_come(const struct outside *o)
{
	for (size_t i = 0; i < o->count; i++)
		if (o->streams[i].state != OPEN || o->streams[i].is_lost ||
			(is_open(&o->streams[i]) && o->streams[i].wanted))
			return true;
	return false;
}

bool outside_find(const struct outside *o, uint32_t stream, struct outside_event *ret)
{
	struct outside_stream *s = find(o, stream);

	if (!s)
		return false;
	fill(s, ret);
	return true;
}

size_t outside_poll(const struct outside *o, bool is_asked, struct pollfd *fds)
{
	size_t n = 0;

	for (size_t i = 0; i < o->count; i++) {
		const struct outside_stream *s = &o->streams[i];
		int events = s->state == OPEN && s->out.len > s->out_at ? POLLOUT : 0;

		if (is_asked && s->state == CONNECTING)
			events |= POLLOUT;
		if (is_asked && is_open(s) && s->wanted)
			events |= POLLIN;
		if (is_asked && looks_for_end(s))
			events |= POLLIN | POLLRDHUP;
		if (s->fd >= 0 && events)
			fds[n++] = (struct pollfd){.fd = s->fd, .events = (short)events};
	}
	return n;
}

uint64_t outside_deadline_ns(const struct outside *o)
{
	uint64_t first = 0;

	for (size_t i = 0; i < o->count; i++)
		if (o->streams[i].state == CONNECTING &&
			(!first || o->streams[i].deadline_ns < first))
			first = o->streams[i].deadline_ns;
	return first;
}

static size_t left(const struct outside *o)
{
	size_t sum = 0;

	for (size_t i = 0; i < o->count; i++)
		sum += o->streams[i].out.len - o->streams[i].out_at;
	return sum;
}

bool outside_is_full(const struct outside *o)
{
	return left(o) > FULL;
}

void outside_linger(struct outside *o)
{
	const uint64_t until = clock_host_ns() + LINGER_MS * 1000000ull;
	static struct pollfd fds[OUTSIDE_MAX];

	while (left(o) > 0 && clock_host_ns() < until) {
		if (poll(fds, outside_poll(o, false, fds), 100) < 0 && errno != EINTR)
			return;
		outside_flush(o);
	}
}
