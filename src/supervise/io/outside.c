/* SPDX-License-Identifier: Apache-2.0 */
/* Connections to the outside: see outside.h and docs/format/control. */
#include "supervise/io/outside.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/mem.h"
#include "supervise/report.h"
#include "wire/endpoint.h"
#include "wire/frame.h"

enum {
	ROOM = 64 * 1024,    /* of one reading */
	FULL = 16 * 1024,    /* a guest that has so much unread is given no more */
	STREAMS_MAX = 900,   /* connections at a time */
	DATAGRAMS_MAX = 128, /* of them for datagrams: nobody says when one is over */
	FREEBIND6 = 78,	     /* IPV6_FREEBIND, not in the C library's headers */
	ANSWER_MS = 1000,    /* loopback's */
};

enum state { ASKED, ANSWERED, OPEN };

struct stream {
	uint32_t id;
	bool is_datagrams;
	enum state state;
	int result; /* errno of the host's attempt, when ANSWERED */
	struct endpoint to;
	ino_t socket; /* the guest's */
	int listener; /* between outside_reach and outside_joined */
	int fd;	      /* stands in for the peer, when OPEN */
	bool wanted;  /* to be told */
	bool guest_ended, peer_ended;
	struct bytes held; /* what came and did not fit yet */
	struct stream *next;
};

static bool on;
static uint32_t last_id;
static struct stream *streams; /* in order of creation */
static unsigned counts[2];     /* bytes, datagrams */
static char room[ROOM];

void outside_init(bool is_on)
{
	on = is_on;
}

bool outside_is_on(void)
{
	return on;
}

static void drop(struct stream *s)
{
	struct stream **p = &streams;

	while (*p != s)
		p = &(*p)->next;
	*p = s->next;
	counts[s->is_datagrams]--;
	fd_close(&s->fd);
	fd_close(&s->listener);
	bytes_finish(&s->held);
	free(s);
}

static int option(const struct gfd *g, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	return getsockopt(g->fd, SOL_SOCKET, name, &value, &len) < 0 ? -1 : value;
}

static int type_of(const struct gfd *g)
{
	int domain = option(g, SO_DOMAIN), protocol = option(g, SO_PROTOCOL);

	if (domain != AF_INET && domain != AF_INET6)
		return -1;
	return protocol == IPPROTO_TCP || protocol == IPPROTO_MPTCP ? SOCK_STREAM
	       : protocol == IPPROTO_UDP			    ? SOCK_DGRAM
								    : -1;
}

/* The stream of a guest's socket; to NULL: the first, wherever it leads. */
static struct stream *find(const struct gfd *g, const struct endpoint *to)
{
	for (struct stream *s = streams; s; s = s->next)
		if (s->socket == g->st.st_ino && (!to || endpoint_equal(&s->to, to)))
			return s;
	return NULL;
}

/* A socket at a peer's address; -1 with errno. */
static int stand_in(const struct endpoint *at, int type, bool is_shared)
{
	struct sockaddr_storage address;
	socklen_t len = endpoint_to(at, &address);
	autoclose int fd = socket(
		at->family == 4 ? AF_INET : AF_INET6, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int yes = 1;

	if (fd < 0)
		return -1;
	/* Of IPv6 a route does not make an address one that can be bound. */
	if (at->family == 6 &&
		(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes)) < 0 ||
			setsockopt(fd, IPPROTO_IPV6, FREEBIND6, &yes, sizeof(yes)) < 0))
		return -1;
	/* Of TCP this finds nobody but who listens; of UDP everybody but those who share. */
	if ((type == SOCK_STREAM || is_shared) &&
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0)
		return -1;
	if (is_shared && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof(yes)) < 0)
		return -1;
	if (bind(fd, (const struct sockaddr *)&address, len) < 0 ||
		(type == SOCK_STREAM && listen(fd, 1) < 0))
		return -1;
	return take_fd(fd);
}

/* Somebody inside is there, or nobody could stand in. */
static bool is_taken(const struct endpoint *to, int type)
{
	autoclose int fd = -1;

	for (struct stream *s = streams; s && type == SOCK_DGRAM; s = s->next)
		if (s->is_datagrams && endpoint_equal(&s->to, to))
			return false;
	fd = stand_in(to, type, false);
	return fd < 0;
}

/* The oldest makes room. */
static void sweep_datagrams(void)
{
	struct stream *s = streams;

	if (counts[1] < DATAGRAMS_MAX)
		return;
	while (!s->is_datagrams)
		s = s->next;
	report_sent(s->id, FRAME_NET_END, NULL, 0);
	drop(s);
}

static void ask(struct task *t, const struct gfd *g, const struct endpoint *to, int type)
{
	struct stream *s = mem_alloc(sizeof(*s)), **last = &streams;

	*s = (struct stream){.id = ++last_id,
		.is_datagrams = type == SOCK_DGRAM,
		.to = *to,
		.socket = g->st.st_ino,
		.listener = -1,
		.fd = -1};
	while (*last)
		last = &(*last)->next;
	*last = s;
	counts[s->is_datagrams]++;
	report_connect(t, s->id, s->is_datagrams, to);
}

/* Where datagrams of this socket to that peer come from. */
static void source_of(const struct gfd *g, const struct endpoint *to, struct endpoint *ret)
{
	static const unsigned char any6[16], own[4] = {10, 0, 2, 15};
	struct sockaddr_storage name = {0};
	struct sockaddr_in6 in6;
	struct sockaddr_in in;
	socklen_t len = sizeof(name);
	bool is_any = true;

	*ret = (struct endpoint){0};
	if (getsockname(g->fd, (struct sockaddr *)&name, &len) == 0 &&
		endpoint_from(ret, (const struct sockaddr *)&name, len) == 0) {
		memcpy(&in, &name, sizeof(in));
		memcpy(&in6, &name, sizeof(in6));
		is_any = name.ss_family == AF_INET ? in.sin_addr.s_addr == 0
						   : !memcmp(&in6.sin6_addr, any6, sizeof(any6));
	}
	if (!is_any)
		return;
	ret->family = to->family;
	memset(ret->ip, 0, sizeof(ret->ip));
	if (to->family == 6)
		ret->ip[15] = 1;
	else if (endpoint_is_loopback(to))
		memcpy(ret->ip, (const unsigned char[4]){127, 0, 0, 1}, 4);
	else
		memcpy(ret->ip, own, sizeof(own));
}

static bool open_datagrams(struct stream *s, const struct gfd *g)
{
	struct sockaddr_storage address;
	struct endpoint source;
	socklen_t len;

	source_of(g, &s->to, &source);
	len = endpoint_to(&source, &address);
	s->fd = stand_in(&s->to, SOCK_DGRAM, true);
	if (s->fd < 0 || connect(s->fd, (const struct sockaddr *)&address, len) < 0)
		return false;
	s->state = OPEN;
	return true;
}

static enum outside_way answered(struct stream *s, const struct gfd *g, int *ret_errno)
{
	int result = s->result;

	if (result) {
		drop(s);
		*ret_errno = result;
		/* The kernel says so itself: nobody is there. */
		return result == ECONNREFUSED ? OUTSIDE_INSIDE : OUTSIDE_REFUSED;
	}
	if (s->is_datagrams && open_datagrams(s, g))
		return OUTSIDE_READY;
	if (!s->is_datagrams) {
		s->listener = stand_in(&s->to, SOCK_STREAM, false);
		if (s->listener >= 0)
			return OUTSIDE_READY;
	}
	/* Somebody inside took the address meanwhile. */
	report_sent(s->id, FRAME_NET_RESET, NULL, 0);
	drop(s);
	return OUTSIDE_INSIDE;
}

enum outside_way outside_reach(struct task *t, const struct gfd *g, const struct sockaddr *to,
	socklen_t len, int *ret_errno)
{
	struct endpoint address;
	struct stream *s;
	int type;

	if (!on || endpoint_from(&address, to, len) < 0 || (type = type_of(g)) < 0)
		return OUTSIDE_INSIDE;
	outside_before_sending(g);
	s = find(g, type == SOCK_DGRAM ? &address : NULL);
	if (s && s->state != OPEN && !endpoint_equal(&s->to, &address)) {
		outside_give_up(g); /* a signal ended that wait */
		s = NULL;
	}
	if (s && s->state == OPEN)
		return s->is_datagrams ? OUTSIDE_READY : OUTSIDE_INSIDE;
	if (s && s->state == ASKED)
		return OUTSIDE_WAITS;
	if (s)
		return answered(s, g, ret_errno);
	if (address.port == 0 || is_taken(&address, type))
		return OUTSIDE_INSIDE;
	sweep_datagrams();
	*ret_errno = ENOBUFS;
	if (counts[0] + counts[1] >= STREAMS_MAX)
		return OUTSIDE_REFUSED;
	ask(t, g, &address, type);
	return OUTSIDE_WAITS;
}

bool outside_joined(const struct gfd *g)
{
	struct stream *s = find(g, NULL);
	struct pollfd soon;

	if (!s || s->listener < 0)
		return true;
	soon = (struct pollfd){.fd = s->listener, .events = POLLIN};
	/* Nobody runs meanwhile: what the kernel left to its own thread is done by then. */
	(void)poll(&soon, 1, ANSWER_MS);
	s->fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	fd_close(&s->listener);
	s->state = OPEN;
	if (s->fd >= 0)
		return true;
	report_sent(s->id, FRAME_NET_RESET, NULL, 0);
	drop(s);
	return false;
}

void outside_give_up(const struct gfd *g)
{
	struct stream *s = find(g, NULL);

	if (!s || s->state == OPEN)
		return;
	report_sent(s->id, FRAME_NET_RESET, NULL, 0);
	drop(s);
}

bool outside_looks(const struct gfd *g)
{
	bool any = false;
	int queued = 0;

	if (!on || g->kind != FDKIND_SOCKET)
		return false;
	for (struct stream *s = streams; s; s = s->next) {
		if (s->socket != g->st.st_ino || s->peer_ended || s->state != OPEN)
			continue;
		any = true;
		if (ioctl(g->fd, FIONREAD, &queued) == 0 && queued < FULL && !s->held.len)
			s->wanted = true;
	}
	return any;
}

/* What came and did not fit goes in as far as it does now. False: the guest's end is gone. */
static bool put_held(struct stream *s)
{
	ssize_t n;

	if (s->held.len == 0)
		return true;
	n = send(s->fd, s->held.data, s->held.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN;
	s->held.len -= (size_t)n;
	memmove(s->held.data, s->held.data + n, s->held.len);
	return true;
}

/* False: the stream is gone. */
static bool finish_if_over(struct stream *s)
{
	if (s->peer_ended && s->held.len == 0 && shutdown(s->fd, SHUT_WR) < 0 && errno != ENOTCONN)
		s->guest_ended = true;
	if (!s->guest_ended || !s->peer_ended || s->held.len)
		return true;
	drop(s);
	return false;
}

static void broken(struct stream *s)
{
	report_sent(s->id, FRAME_NET_RESET, NULL, 0);
	drop(s);
}

/* Takes what the guest sent, and puts in what it has room for; true when there was any. The stream
 * may be gone afterwards. */
static bool drain(struct stream *s)
{
	size_t was_held = s->held.len;
	bool any;

	if (!put_held(s)) {
		broken(s);
		return true;
	}
	any = s->held.len < was_held;
	while (!s->guest_ended) {
		ssize_t n = recv(s->fd, room, sizeof(room), MSG_DONTWAIT);

		if (n < 0 && (errno == EINTR || (s->is_datagrams && errno != EAGAIN)))
			continue; /* of datagrams an error is of one that nobody wanted */
		if (n < 0 && errno == EAGAIN)
			return any;
		any = true;
		if (n < 0) {
			broken(s);
			return true;
		}
		s->guest_ended = n == 0 && !s->is_datagrams;
		report_sent(s->id, s->guest_ended ? FRAME_NET_END : 0, room, (size_t)n);
	}
	finish_if_over(s);
	return any;
}

void outside_before_sending(const struct gfd *g)
{
	struct stream *s = on ? streams : NULL, *next;

	for (; s; s = next) {
		next = s->next;
		if (s->socket == g->st.st_ino && s->state == OPEN)
			drain(s);
	}
}

bool outside_drain(void)
{
	bool any = false;

	for (struct stream *s = streams, *next; s; s = next) {
		next = s->next;
		if (s->state == OPEN)
			any |= drain(s);
	}
	return any;
}

void outside_tell_wanted(void)
{
	for (struct stream *s = streams; s; s = s->next) {
		if (s->wanted)
			report_wanted(s->id);
		s->wanted = false;
	}
}

static void reset(struct stream *s)
{
	const struct linger at_once = {.l_onoff = 1};

	/* Closing then breaks the connection off. Cannot fail on a socket that we hold. */
	if (setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)) < 0)
		abort();
	drop(s);
}

void outside_take(const struct outside_input *in)
{
	struct stream *s = streams;

	while (s && s->id != in->stream)
		s = s->next;
	if (!s) /* given up meanwhile */
		return;
	if (in->flags & FRAME_NET_CONNECTED) {
		s->state = ANSWERED;
		s->result = (int)in->error;
		return;
	}
	if (s->state != OPEN)
		return;
	if (s->is_datagrams) {
		/* A datagram that finds no room, or nobody, is lost, as anywhere. */
		(void)!send(s->fd, in->data, in->len, MSG_NOSIGNAL | MSG_DONTWAIT);
		return;
	}
	if (in->flags & FRAME_NET_RESET) {
		reset(s);
		return;
	}
	bytes_put(&s->held, in->data, in->len);
	s->peer_ended = in->flags & FRAME_NET_END;
	if (!put_held(s))
		broken(s);
	else
		finish_if_over(s);
}
