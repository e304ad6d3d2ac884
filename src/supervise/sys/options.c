/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of descriptors: ioctl, getsockopt, setsockopt. What terminals and sockets are asked every
 * day is native; what would answer from the host's clock, hardware, disks or counters is refused as
 * by a file or protocol that does not know the option.
 */
#include <errno.h>
#include <linux/if.h>
#include <linux/sockios.h>
#include <linux/timerfd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/attr.h"
#include "base/fd.h"
#include "supervise/io/fdkind.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/io/io.h"
#include "supervise/engine/sched.h"
#include "supervise/engine/task.h"
#include "supervise/engine/tighten.h"
#include "supervise/sys/timerfd.h"

/* Requests outside the terminal's own that are native. */
static const uint32_t native_requests[] = {
	/* The network has one interface, lo, with the kernel's defaults. */
	FIOSETOWN,
	SIOCSPGRP,
	FIOGETOWN,
	SIOCGPGRP,
	SIOCATMARK,
	SIOCGIFNAME,
	SIOCGIFCONF,
	SIOCGIFFLAGS,
	SIOCGIFADDR,
	SIOCGIFDSTADDR,
	SIOCGIFBRDADDR,
	SIOCGIFNETMASK,
	SIOCGIFMETRIC,
	SIOCGIFMTU,
	SIOCGIFHWADDR,
	SIOCGIFINDEX,
	SIOCGIFTXQLEN,
};

/* The type that terminal requests carry, and those of all files beside them (FIONREAD, FIONBIO). */
enum { TERMINAL = 'T' };

/* How much is queued. How fast the host writes our input, or drains our output, must not show. */
static enum act count_queued(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;
	const int32_t none = 0;

	if (gfd_open(t, (int)c->arg[0], &g) < 0)
		return ACT_NATIVE;
	if (io_is_external(&g))
		io_external_read(t, 0);
	else if (g.kind == FDKIND_PIPE && io_is_own_output(&g))
		return call_done(c, gmem_write(t, c->arg[2], &none, sizeof(none)));
	return ACT_NATIVE;
}

enum act enter_ioctl(struct task *t, struct call *c)
{
	uint32_t request = (uint32_t)c->arg[1];
	if (request == FIONREAD)
		return count_queued(t, c);
	/* Writes to the run's own output must not fail because the host is slow: as fcntl's
	 * F_SETFL. */
	if (request == FIONBIO)
		tighten(t);
	if (request == FIOASYNC)
		sched_signals_unseen();
	if (request == TFD_IOC_SET_TICKS)
		return timerfd_set_ticks(t, c);
	if (_IOC_TYPE(request) == TERMINAL)
		return ACT_NATIVE;
	for (size_t i = 0; i < ARRAY_LEN(native_requests); i++)
		if (native_requests[i] == request)
			return ACT_NATIVE;
	autoclose int fd = task_dup_fd(t, (int)c->arg[0]);
	return call_done(c, fd < 0 ? -EBADF : -ENOTTY);
}

struct option {
	int level, name;
};

/* Younger than the C library's headers, or not in them. */
enum {
	PEERPIDFD = 77,	       /* SO_PEERPIDFD */
	RCVPRIORITY = 82,      /* SO_RCVPRIORITY and what follows it */
	TIMESTAMP_NEW = 63,    /* SO_TIMESTAMP_NEW */
	TIMESTAMPNS_NEW = 64,  /* SO_TIMESTAMPNS_NEW */
	TIMESTAMPING_NEW = 65, /* SO_TIMESTAMPING_NEW */
	PREFER_BUSY_POLL = 69, /* SO_PREFER_BUSY_POLL */
	BUSY_POLL_BUDGET = 70, /* SO_BUSY_POLL_BUDGET */
	NETNS_COOKIE = 71,     /* SO_NETNS_COOKIE */
	TX_DELAY = 37,	       /* TCP_TX_DELAY */
	AUTO_FLOW_LABEL = 70,  /* IPV6_AUTOFLOWLABEL */
	FLOW_LABELS = 32,      /* IPV6_FLOWLABEL_MGR: draws labels at random */
};

/* Figures of the host: counters of all its sockets, memory, round trip times. */
static const struct option not_told[] = {
	{SOL_SOCKET, SO_COOKIE},
	{SOL_SOCKET, NETNS_COOKIE},
	{SOL_SOCKET, SO_MEMINFO},
	{SOL_SOCKET, SO_INCOMING_CPU},
	{SOL_SOCKET, SO_INCOMING_NAPI_ID},
	{SOL_SOCKET, SO_PEERGROUPS},
	{SOL_SOCKET, PEERPIDFD},
	{IPPROTO_TCP, TCP_INFO},
	{IPPROTO_TCP, TCP_CC_INFO},
	{IPPROTO_TCP, TCP_TIMESTAMP},
	{IPPROTO_TCP, TCP_CONGESTION},
};

/* Real time in messages, and sending at a pace of real time. */
static const struct option not_set[] = {
	{SOL_SOCKET, SO_TIMESTAMP},
	{SOL_SOCKET, SO_TIMESTAMPNS},
	{SOL_SOCKET, SO_TIMESTAMPING},
	{SOL_SOCKET, TIMESTAMP_NEW},
	{SOL_SOCKET, TIMESTAMPNS_NEW},
	{SOL_SOCKET, TIMESTAMPING_NEW},
	{SOL_SOCKET, SO_INCOMING_CPU},
	{SOL_SOCKET, SO_TXTIME},
	{SOL_SOCKET, SO_MAX_PACING_RATE},
	{SOL_SOCKET, SO_BUSY_POLL},
	{SOL_SOCKET, PREFER_BUSY_POLL},
	{SOL_SOCKET, BUSY_POLL_BUDGET},
	{IPPROTO_TCP, TCP_CONGESTION},
	{IPPROTO_TCP, TX_DELAY},
	{IPPROTO_IPV6, AUTO_FLOW_LABEL},
	{IPPROTO_IPV6, FLOW_LABELS},
	/* Its program may cut messages by the CPU, by hashes and at random. */
	{SOL_SOCKET, SO_ATTACH_FILTER},
	{SOL_SOCKET, SO_ATTACH_BPF},
	/* Ours stays: see port_share. */
	{SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF},
	{SOL_SOCKET, SO_ATTACH_REUSEPORT_EBPF},
	{SOL_SOCKET, SO_DETACH_REUSEPORT_BPF},
};

/*
 * Accepted without effect, for TCP: how long data are held back, or a silent peer is put up with,
 * in the host's time.
 */
static const int without_effect[] = {
	TCP_CORK,
	TCP_USER_TIMEOUT,
	TCP_DEFER_ACCEPT,
	TCP_LINGER2,
	TCP_SYNCNT,
};

static bool is_listed(const struct option *options, size_t count, const struct call *c)
{
	int level = (int)c->arg[1], name = (int)c->arg[2];
	if (level == SOL_SOCKET && name >= RCVPRIORITY)
		return true;
	for (size_t i = 0; i < count; i++)
		if (options[i].level == level && options[i].name == name)
			return true;
	return false;
}

enum act enter_getsockopt(struct task *t, struct call *c)
{
	(void)t;
	if (is_listed(not_told, ARRAY_LEN(not_told), c))
		return call_done(c, -ENOPROTOOPT);
	return ACT_NATIVE;
}

static bool has_no_effect(const struct gfd *g, int name)
{
	int protocol = 0;
	socklen_t len = sizeof(protocol);

	if (getsockopt(g->fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) < 0 ||
		(protocol != IPPROTO_TCP && protocol != IPPROTO_MPTCP))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(without_effect); i++)
		if (without_effect[i] == name)
			return true;
	return false;
}

enum act enter_setsockopt(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;

	if (is_listed(not_set, ARRAY_LEN(not_set), c))
		return call_done(c, -ENOPROTOOPT);
	if (gfd_open(t, (int)c->arg[0], &g) < 0 || g.kind != FDKIND_SOCKET)
		return ACT_NATIVE; /* the kernel says why not */
	if ((int)c->arg[1] == IPPROTO_TCP && has_no_effect(&g, (int)c->arg[2]))
		return call_done(c, 0);
	return ACT_NATIVE;
}
