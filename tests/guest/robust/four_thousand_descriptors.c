/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As many descriptors as there may be, all of kinds that the supervisor looks after; the next one
 *is refused, and each still works. : out 4096 refused 24 : out ready 2046
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LIMIT = 4096 };

int main(void)
{
	static struct pollfd fds[LIMIT];
	struct rlimit limit = {LIMIT, LIMIT};
	int count = 0, fd, pair[2];

	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 1;
	while (pipe(pair) == 0) {
		fds[count++] = (struct pollfd){.fd = pair[0], .events = POLLIN};
		if (write(pair[1], "x", 1) != 1)
			return 1;
	}
	while ((fd = eventfd(0, 0)) >= 0)
		fds[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
	/* 0, 1, 2, and two for each pipe but the last descriptor's eventfd. */
	printf("%d refused %d\n", 3 + 2 * 2046 + (count - 2046), errno);
	printf("ready %d\n", poll(fds, (nfds_t)count, 0));
	return 0;
}
