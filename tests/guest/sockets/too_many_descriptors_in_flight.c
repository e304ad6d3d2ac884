/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors that were sent and not received are counted by the host's user, who has other
 * programs too: that there are too many is told.
 *: unenforced unmodelled
 *: exit 121
 *: out some went, then: ETOOMANYREFS
 */
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../guest.h"

enum { EACH = 200, SENDS = 40 };

int main(void)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(EACH * sizeof(int))] = {0};
	const struct rlimit limit = {1024, 1024};
	char byte = 0;
	struct iovec v = {&byte, 1};
	struct msghdr m = {.msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int pair[2], fds[EACH], sent = 0;

	MUST(setrlimit(RLIMIT_NOFILE, &limit));
	MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair));
	for (int i = 0; i < EACH; i++)
		fds[i] = 1;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(c), fds, sizeof(fds));
	while (sent < SENDS && sendmsg(pair[0], &m, 0) == 1)
		sent++;
	printf("%s went, then: %s\n", sent > 2 ? "some" : "none", strerrorname_np(errno));
	return 0;
}
