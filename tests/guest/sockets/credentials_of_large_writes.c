/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SO_PASSCRED: every part of a write that is larger than the buffer carries the writer's pid.
 *: native
 */
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guest.h"

enum { SIZE = 1 << 20 };

static char data[SIZE];

static ssize_t receive(int s, struct ucred *ret)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(*ret))];
	static char room[30000];
	struct iovec v = {room, sizeof(room)};
	struct msghdr m = {.msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	ssize_t n = MUST(recvmsg(s, &m, 0));
	const struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	*ret = (struct ucred){0};
	if (c && c->cmsg_type == SCM_CREDENTIALS)
		memcpy(ret, CMSG_DATA(c), sizeof(*ret));
	return n;
}

static void one(const char *name, int way)
{
	int pair[2], on = 1, others = 0, parts = 0;
	struct iovec v[2] = {{data, 1000}, {data + 1000, SIZE - 1000}};
	struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};
	struct ucred who;
	long all = 0;
	pid_t child;
	ssize_t n;

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	MUST(setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)));
	fflush(stdout);
	child = MUST(fork());
	if (child == 0) {
		n = way == 0   ? write(pair[0], data, SIZE)
		    : way == 1 ? writev(pair[0], v, 2)
			       : sendmsg(pair[0], &m, 0);
		_exit(n == SIZE ? 0 : 1);
	}
	close(pair[0]);
	while ((n = receive(pair[1], &who)) > 0) {
		all += n;
		parts++;
		others += who.pid != child || who.uid != getuid() || who.gid != getgid();
	}
	MUST(wait(NULL));
	printf("%s: %ld bytes, %s parts, %d of others\n", name, all, parts > 10 ? "many" : "few",
		others);
	close(pair[1]);
}

int main(void)
{
	one("write", 0);
	one("writev", 1);
	one("sendmsg", 2);
	return 0;
}
