/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As many descriptors as there may be, all of kinds that the supervisor looks after; the next one
 * is refused, and each still works. (The pipes of one user of the host share a budget.)
 *: native
 *: out 4096 refused 24
 *: out ready 300
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LIMIT = 4096, PIPES = 300 };

int main(void)
{
	static struct pollfd fds[LIMIT];
	struct rlimit limit = {LIMIT, LIMIT};
	int count = 0, fd, pair[2];

	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 1;
	while (count < PIPES && pipe(pair) == 0) {
		fds[count++] = (struct pollfd){.fd = pair[0], .events = POLLIN};
		if (write(pair[1], "x", 1) != 1)
			return 1;
	}
	while ((fd = eventfd(0, 0)) >= 0)
		fds[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
	/* 0, 1, 2, and two for each pipe. */
	printf("%d refused %d\n", 3 + count + PIPES, errno);
	printf("ready %d\n", poll(fds, (nfds_t)count, 0));
	return 0;
}
