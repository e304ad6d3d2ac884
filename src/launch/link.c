/* SPDX-License-Identifier: Apache-2.0 */
/* The socket pair between the launcher and init: see link.h. */
#include "launch/link.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int link_open(int ret_pair[2], struct error *err)
{
	/* Whole messages: an error is never half read. */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_pair) < 0)
		return error_sys(err, "make a socket pair");
	return 0;
}

int link_send(int link, enum link_kind kind, int fd, const struct error *what, struct error *err)
{
	union control control = {0};
	struct link_message m = {.kind = kind};
	struct iovec iov = {.iov_base = &m, .iov_len = sizeof(m)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (what)
		m.error = *what;
	if (fd >= 0) {
		struct cmsghdr *c;

		msg.msg_control = control.bytes;
		msg.msg_controllen = sizeof(control.bytes);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	while (sendmsg(link, &msg, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return error_sys(err, "send to the other side of the launch");
	return 0;
}

int link_recv(int link, enum link_kind *ret_kind, int *ret_fd, struct error *err)
{
	union control control = {0};
	struct link_message m = {0};
	struct iovec iov = {.iov_base = &m, .iov_len = sizeof(m)};
	struct msghdr msg = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	autoclose int fd = -1;
	struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(link, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	/* A reset is what a killed peer with unread messages leaves. */
	if (n < 0 && errno != ECONNRESET)
		return error_sys(err, "receive from the other side of the launch");
	c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(int));
	if (n > 0 && n != sizeof(m))
		return error_set(err, ERR_FORMAT, "cut message from the other side of the launch");
	if (n > 0 && m.kind == LINK_ERROR) {
		if (err)
			*err = m.error;
		return -1;
	}
	*ret_kind = n > 0 ? m.kind : LINK_END;
	*ret_fd = take_fd(fd);
	return 0;
}

bool link_is_closed(int link)
{
	struct pollfd p = {.fd = link, .events = POLLIN};

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR)) != 0;
}
