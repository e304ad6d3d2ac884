/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stamps of messages: see stamps.h.
 *
 * How it works: each jump of the logical clock is noted with the host's time of it. Guests are
 * stopped while it jumps, so what arrived was stamped clearly before or after. The kernel begins to
 * stamp at arrival (and not as late as at the read) some time after the first socket asked; that
 * moment is waited for once, and a socket of ours keeps it so.
 */
#include "supervise/io/stamps.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "supervise/engine/clock.h"
#include "supervise/engine/gmem.h"
#include "supervise/report.h"

enum { JUMPS = 4096, TRIES = 2000, CONTROL_MAX = 4096 };
/* Younger than the C library's headers: SO_TIMESTAMP_NEW, SO_TIMESTAMPNS_NEW. */
enum { STAMP_NEW = 63, STAMPNS_NEW = 64 };
static const uint64_t ns_per_s = 1000000000;

/* From host time `host_ns` on the logical clock showed `logical_ns`. */
static struct jump {
	uint64_t host_ns, logical_ns;
} jumps[JUMPS];
static uint64_t jump_count;
static bool wanted;

static uint64_t host_now(void)
{
	struct timespec ts = {0};

	/* The vDSO would read the time-stamp counter, which is trapped here too. */
	if (syscall(SYS_clock_gettime, CLOCK_REALTIME, &ts) < 0)
		return 0;
	return (uint64_t)ts.tv_sec * ns_per_s + (uint64_t)ts.tv_nsec;
}

void stamps_clock_moved(void)
{
	if (wanted)
		jumps[jump_count++ % JUMPS] = (struct jump){host_now(), clock_realtime()};
}

/* A datagram to ourselves: was it stamped before it was read? */
static bool is_stamped_early(int s, const struct sockaddr_in *self)
{
	char byte = 0;
	_Alignas(struct cmsghdr) char control[256];
	struct iovec v = {&byte, 1};
	struct msghdr m = {.msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	uint64_t before;
	struct timespec ts;

	if (sendto(s, &byte, 1, 0, (const struct sockaddr *)self, sizeof(*self)) != 1)
		return false;
	before = host_now();
	if (recvmsg(s, &m, MSG_DONTWAIT) != 1)
		return false;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_TIMESTAMPNS)
			continue;
		memcpy(&ts, CMSG_DATA(c), sizeof(ts));
		return (uint64_t)ts.tv_sec * ns_per_s + (uint64_t)ts.tv_nsec < before;
	}
	return false;
}

static int stamped_socket(void)
{
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), on = 1;

	if (s >= 0 && setsockopt(s, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) < 0)
		fd_close(&s);
	return s;
}

void stamps_wanted(void)
{
	static int keeper = -1; /* without a port, so that it is in nobody's way */
	const struct timespec while_it_works = {.tv_nsec = 1000000};
	struct sockaddr_in self = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(self);
	autoclose int s = -1;

	if (wanted)
		return;
	wanted = true;
	jumps[jump_count++ % JUMPS] = (struct jump){0, clock_realtime()};
	keeper = stamped_socket();
	s = stamped_socket();
	if (keeper >= 0 && s >= 0 && bind(s, (const struct sockaddr *)&self, len) == 0 &&
		getsockname(s, (struct sockaddr *)&self, &len) == 0)
		for (int i = 0; i < TRIES; i++) {
			if (is_stamped_early(s, &self))
				return;
			nanosleep(&while_it_works, NULL);
		}
	report_not_enforced(REASON_UNMODELLED, "the kernel does not stamp messages as they arrive");
}

static bool is_on(const struct gfd *g, int name)
{
	int value = 0;
	socklen_t len = sizeof(value);

	return getsockopt(g->fd, SOL_SOCKET, name, &value, &len) == 0 && value;
}

bool stamps_are_on(const struct gfd *g)
{
	return wanted && g->kind == FDKIND_SOCKET &&
	       (is_on(g, SO_TIMESTAMP) || is_on(g, SO_TIMESTAMPNS) || is_on(g, STAMP_NEW) ||
		       is_on(g, STAMPNS_NEW));
}

static uint64_t logical(uint64_t host_ns)
{
	uint64_t oldest = jump_count > JUMPS ? jump_count - JUMPS : 0, i = jump_count - 1;

	while (i > oldest && jumps[i % JUMPS].host_ns > host_ns)
		i--;
	return jumps[i % JUMPS].logical_ns;
}

/* Both halves of every form are 64 bits wide here: seconds, then micro- or nanoseconds. */
static void exchange(int type, unsigned char *data)
{
	bool is_micro = type == SO_TIMESTAMP || type == STAMP_NEW;
	int64_t half[2];
	uint64_t ns;

	memcpy(half, data, sizeof(half));
	/* A stamp of microseconds was cut off: its instant is before the end of that one. */
	ns = (uint64_t)half[0] * ns_per_s +
	     (is_micro ? (uint64_t)half[1] * 1000 + 999 : (uint64_t)half[1]);
	ns = logical(ns);
	half[0] = (int64_t)(ns / ns_per_s);
	half[1] = (int64_t)(ns % ns_per_s / (is_micro ? 1000 : 1));
	memcpy(data, half, sizeof(half));
}

void stamps_exchange(struct task *t, uint64_t header)
{
	_Alignas(struct cmsghdr) static unsigned char control[CONTROL_MAX];
	struct msghdr h;
	uint64_t addr;

	if (gmem_read(t, header, &h, sizeof(h)) < 0)
		return;
	addr = (uint64_t)(uintptr_t)h.msg_control;
	if (h.msg_controllen < sizeof(struct cmsghdr) || h.msg_controllen > sizeof(control) ||
		gmem_read(t, addr, control, h.msg_controllen) < 0)
		return;
	h.msg_control = control;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&h); c; c = CMSG_NXTHDR(&h, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_len >= CMSG_LEN(2 * sizeof(int64_t)) &&
			(c->cmsg_type == SO_TIMESTAMP || c->cmsg_type == SO_TIMESTAMPNS ||
				c->cmsg_type == STAMP_NEW || c->cmsg_type == STAMPNS_NEW))
			exchange(c->cmsg_type, CMSG_DATA(c));
	if (gmem_write(t, addr, control, h.msg_controllen) < 0)
		return; /* the kernel has just written it */
}
