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
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>

#include "base/attr.h"
#include "base/fd.h"
#include "supervise/files/inode.h"
#include "supervise/io/fdkind.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/io/io.h"
#include "supervise/io/stamps.h"
#include "supervise/sys/tcpinfo.h"
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
	PASSPIDFD = 76,	       /* SO_PASSPIDFD, younger than the pinned kernel, as is the next */
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
	{SOL_SOCKET, SO_MEMINFO},
	{SOL_SOCKET, SO_INCOMING_NAPI_ID},
	{SOL_SOCKET, SO_PEERGROUPS},
	{SOL_SOCKET, PASSPIDFD},
	{SOL_SOCKET, PEERPIDFD},
	{IPPROTO_TCP, TCP_TIMESTAMP},
};

/* Real time in messages, and sending at a pace of real time. */
static const struct option not_set[] = {
	{SOL_SOCKET, SO_TIMESTAMPING},
	{SOL_SOCKET, TIMESTAMPING_NEW},
	{SOL_SOCKET, PASSPIDFD},
	{SOL_SOCKET, SO_INCOMING_CPU},
	{SOL_SOCKET, SO_TXTIME},
	{SOL_SOCKET, SO_MAX_PACING_RATE},
	{SOL_SOCKET, SO_BUSY_POLL},
	{SOL_SOCKET, PREFER_BUSY_POLL},
	{SOL_SOCKET, BUSY_POLL_BUDGET},
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

/* Gives the guest as much of it as it has room for. */
static enum act tell(struct task *t, struct call *c, const void *value, size_t len)
{
	int32_t room;

	if (gmem_read(t, c->arg[4], &room, sizeof(room)) < 0)
		return call_done(c, -EFAULT);
	if (room < 0)
		return call_done(c, -EINVAL);
	if ((size_t)room > len)
		room = (int32_t)len;
	if (gmem_write(t, c->arg[3], value, (size_t)room) < 0 ||
		gmem_write(t, c->arg[4], &room, sizeof(room)) < 0)
		return call_done(c, -EFAULT);
	return call_done(c, 0);
}

/* An int64 that does not fit is refused by the kernel, unlike other options. */
static enum act tell_number(struct task *t, struct call *c, uint64_t value)
{
	int32_t room;

	if (gmem_read(t, c->arg[4], &room, sizeof(room)) < 0)
		return call_done(c, -EFAULT);
	return room < (int32_t)sizeof(value) ? call_done(c, -EINVAL)
					     : tell(t, c, &value, sizeof(value));
}

/*
 * Closing a socket that lingers would wait for its peer in the host's time. So the kernel has the
 * seconds but not the flag: it sends what is left by itself, and closing takes no time.
 */
static enum act set_linger(struct task *t, struct call *c, const struct gfd *g)
{
	struct linger wanted, off = {0};

	if ((int32_t)c->arg[4] < (int32_t)sizeof(wanted))
		return ACT_NATIVE; /* EINVAL */
	if (gmem_read(t, c->arg[3], &wanted, sizeof(wanted)) < 0)
		return call_done(c, -EFAULT);
	if (wanted.l_onoff && !wanted.l_linger)
		return ACT_NATIVE; /* a reset */
	if (!wanted.l_onoff)
		wanted = (struct linger){.l_onoff = 1};
	if (setsockopt(g->fd, SOL_SOCKET, SO_LINGER, &wanted, sizeof(wanted)) < 0 ||
		setsockopt(g->fd, SOL_SOCKET, SO_LINGER, &off, sizeof(off)) < 0)
		return call_done(c, -errno);
	return call_done(c, 0);
}

static enum act get_linger(struct task *t, struct call *c, const struct gfd *g)
{
	struct linger linger = {0};
	socklen_t len = sizeof(linger);

	if (getsockopt(g->fd, SOL_SOCKET, SO_LINGER, &linger, &len) < 0)
		return ACT_NATIVE;
	if (linger.l_linger)
		linger.l_onoff = 1;
	return tell(t, c, &linger, sizeof(linger));
}

static enum act get_socket_option(struct task *t, struct call *c, const struct gfd *g)
{
	int32_t cpu = -1;
	socklen_t len = sizeof(cpu);

	switch ((int)c->arg[2]) {
	case SO_COOKIE: /* counted, as inodes are */
		return tell_number(t, c,
			inode_get_pair(major(g->st.st_dev), minor(g->st.st_dev), g->st.st_ino)
				->number);
	case NETNS_COOKIE: /* that of the first */
		return tell_number(t, c, 1);
	case SO_INCOMING_CPU: /* the only one, or none yet */
		if (getsockopt(g->fd, SOL_SOCKET, SO_INCOMING_CPU, &cpu, &len) < 0)
			return ACT_NATIVE;
		cpu = cpu < 0 ? -1 : 0;
		return tell(t, c, &cpu, sizeof(cpu));
	case SO_LINGER:
		return get_linger(t, c, g);
	default:
		return ACT_NATIVE;
	}
}

enum act enter_getsockopt(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;
	unsigned char info[512];
	int len;

	if (is_listed(not_told, ARRAY_LEN(not_told), c))
		return call_done(c, -ENOPROTOOPT);
	if ((int)c->arg[1] != SOL_SOCKET &&
		!((int)c->arg[1] == IPPROTO_TCP && (int)c->arg[2] == TCP_INFO))
		return ACT_NATIVE;
	if (gfd_open(t, (int)c->arg[0], &g) < 0 || g.kind != FDKIND_SOCKET)
		return ACT_NATIVE; /* the kernel says why not */
	if ((int)c->arg[1] == SOL_SOCKET)
		return get_socket_option(t, c, &g);
	len = tcpinfo_read(&g, info, sizeof(info));
	return len < 0 ? ACT_NATIVE : tell(t, c, info, (size_t)len);
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

/* One algorithm has no clock of its own; others are modules that a kernel may lack. */
static enum act set_congestion(struct task *t, struct call *c)
{
	static const char only[] = "reno";
	char name[sizeof(only)] = "";
	size_t len = (size_t)(uint32_t)c->arg[4];

	if ((int32_t)c->arg[4] < 1)
		return call_done(c, -EINVAL);
	if (gmem_read(t, c->arg[3], name, len < sizeof(name) ? len : sizeof(name)) < 0)
		return call_done(c, -EFAULT);
	return call_done(c, strncmp(name, only, sizeof(only)) ? -ENOENT : 0);
}

static bool is_stamp(int name)
{
	return name == SO_TIMESTAMP || name == SO_TIMESTAMPNS || name == TIMESTAMP_NEW ||
	       name == TIMESTAMPNS_NEW;
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
	if ((int)c->arg[1] == IPPROTO_TCP && (int)c->arg[2] == TCP_CONGESTION)
		return set_congestion(t, c);
	if ((int)c->arg[1] != SOL_SOCKET)
		return ACT_NATIVE;
	if ((int)c->arg[2] == SO_LINGER)
		return set_linger(t, c, &g);
	if (is_stamp((int)c->arg[2]))
		stamps_wanted();
	return ACT_NATIVE;
}
