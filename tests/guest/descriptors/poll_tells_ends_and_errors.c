/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poll and select: data, room, ends, errors and bad descriptors of pipes, sockets, files and
 * directories; a negative number is passed over.
 *: native
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../guest.h"

static void look(const char *name, int fd)
{
	struct pollfd p = {.fd = fd,
		.events = POLLIN | POLLOUT | POLLPRI | POLLRDHUP | POLLRDNORM | POLLWRBAND};
	int n = MUST(poll(&p, 1, 0));
	struct timeval none = {0};
	fd_set in, out, except;

	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_ZERO(&except);
	if (fd >= 0) {
		FD_SET(fd, &in);
		FD_SET(fd, &out);
		FD_SET(fd, &except);
	}
	printf("%s: %d %x", name, n, p.revents);
	n = select(fd + 1, &in, &out, &except, &none);
	if (n < 0 || fd < 0)
		printf(", select %d\n", n);
	else
		printf(", select %d: %d%d%d\n", n, FD_ISSET(fd, &in), FD_ISSET(fd, &out),
			FD_ISSET(fd, &except));
}

int main(void)
{
	int p[2], s[2];
	char c;

	MUST(pipe(p));
	look("empty pipe", p[0]);
	look("its writer", p[1]);
	MUST(write(p[1], "x", 1));
	look("a byte", p[0]);
	close(p[1]);
	look("and an end", p[0]);
	MUST(read(p[0], &c, 1));
	look("the end", p[0]);
	MUST(pipe(p));
	close(p[0]);
	look("nobody reads", p[1]);
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	look("socket", s[0]);
	MUST(shutdown(s[1], SHUT_WR));
	look("half closed", s[0]);
	close(s[1]);
	look("closed", s[0]);
	look("not connected", MUST(socket(AF_INET, SOCK_STREAM, 0)));
	look("udp", MUST(socket(AF_INET, SOCK_DGRAM, 0)));
	look("file", MUST(open("file", O_CREAT | O_RDWR, 0644)));
	look("directory", MUST(open(".", O_RDONLY)));
	look("path", MUST(open(".", O_PATH)));
	look("closed number", 40);
	look("negative", -1);
	return 0;
}
