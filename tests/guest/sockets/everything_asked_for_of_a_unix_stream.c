/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MSG_WAITALL on a unix stream that passes credentials: data of one writer are never joined with
 * those of another.
 *: native
 *: long
 */
#include <pthread.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guest.h"

int main(void)
{
	int s[2], on = 1, status;

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	MUST(setsockopt(s[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)));
	for (int i = 0; i < 2; i++)
		if (MUST(fork()) == 0) {
			usleep(50000 + 200000 * (unsigned)i);
			MUST(write(s[1], "ab", 2));
			usleep(50000);
			MUST(write(s[1], "cd", 2));
			_exit(0);
		}
	close(s[1]);
	for (int i = 0; i < 3; i++) {
		_Alignas(struct cmsghdr) char control[100];
		char room[10] = "";
		struct iovec v = {room, 8};
		struct msghdr m = {.msg_iov = &v,
			.msg_iovlen = 1,
			.msg_control = control,
			.msg_controllen = sizeof(control)};
		ssize_t n = recvmsg(s[0], &m, MSG_WAITALL);
		const struct cmsghdr *c = CMSG_FIRSTHDR(&m);

		printf("%zd '%s' %s\n", n, room,
			c && c->cmsg_type == SCM_CREDENTIALS ? "with credentials" : "without");
	}
	while (wait(&status) > 0)
		;
	return 0;
}
