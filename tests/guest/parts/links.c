/* SPDX-License-Identifier: Apache-2.0 */
/* Processes joined by pipes, unix and TCP connections move amounts that an own generator chooses,
 * as fast as each link takes them; what every call moved is folded into one number a process. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PEERS = 6, KINDS = 3, LINKS = PEERS * KINDS, STEPS = 400, BUF = 300000 };

static int in[LINKS], out[LINKS]; /* link k leads from process k / KINDS to the next one */
static char buf[BUF];
static uint64_t state, log_sum;
static unsigned long moved[2], calls;

static unsigned number(unsigned below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(state >> 33) % below;
}

static void note(long a, long b)
{
	log_sum = (log_sum ^ (uint64_t)(a * 31 + b)) * 1099511628211ull;
	calls++;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void tcp_pair(int ends[2])
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	const int listener = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) || listen(listener, 1) ||
		getsockname(listener, (struct sockaddr *)&a, &len))
		die("listen");
	ends[1] = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(ends[1], (struct sockaddr *)&a, sizeof(a)))
		die("connect");
	ends[0] = accept(listener, NULL, NULL);
	close(listener);
}

static void make_link(int k)
{
	int ends[2] = {-1, -1};

	if (k % KINDS == 0 && pipe(ends))
		die("pipe");
	if (k % KINDS == 1 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		die("socketpair");
	if (k % KINDS == 2)
		tcp_pair(ends);
	in[k] = ends[0];
	out[k] = ends[1];
}

static void take(int fd, int wait)
{
	const unsigned most = 1 + number(number(2) ? 1000 : BUF);
	struct pollfd p = {fd, POLLIN, 0};

	if (!wait && poll(&p, 1, (int)number(3)) == 0) {
		note(-1, 0);
		return;
	}
	const ssize_t n = read(fd, buf, most);
	note(n, most);
	moved[0] += n > 0 ? (unsigned long)n : 0;
}

static void give(int fd)
{
	const unsigned most = 1 + number(number(2) ? 5000 : BUF);

	fcntl(fd, F_SETFL, O_NONBLOCK);
	const ssize_t n = write(fd, buf, most);
	note(n < 0 ? -errno : n, most);
	moved[1] += n > 0 ? (unsigned long)n : 0;
}

static void drain(int first)
{
	struct epoll_event e = {.events = EPOLLIN}, got[KINDS];
	const int ep = epoll_create1(0);
	int open = KINDS;

	for (int i = 0; i < KINDS; i++) {
		e.data.fd = in[first + i];
		epoll_ctl(ep, EPOLL_CTL_ADD, e.data.fd, &e);
	}
	while (open > 0) {
		const int n = epoll_wait(ep, got, KINDS, -1);

		for (int i = 0; i < n; i++) {
			const ssize_t r = read(got[i].data.fd, buf, BUF);

			note(r, got[i].data.fd);
			moved[0] += r > 0 ? (unsigned long)r : 0;
			if (r <= 0) {
				epoll_ctl(ep, EPOLL_CTL_DEL, got[i].data.fd, NULL);
				open--;
			}
		}
	}
}

static void peer(int me)
{
	const int from = (me + PEERS - 1) % PEERS * KINDS, to = me * KINDS;
	struct timespec now;

	state = (uint64_t)me * 7919 + 1;
	for (int k = 0; k < LINKS; k++) {
		if (k / KINDS != me)
			close(out[k]);
		if (k / KINDS != from / KINDS)
			close(in[k]);
	}
	for (int i = 0; i < STEPS; i++) {
		const int kind = (int)number(KINDS);

		switch (number(5)) {
		case 0:
		case 1:
			take(in[from + kind], 0);
			break;
		case 2:
			if (number(20) == 0)
				usleep(number(1000));
			break;
		default:
			give(out[to + kind]);
		}
	}
	for (int i = 0; i < KINDS; i++)
		close(out[to + i]);
	drain(from);
	clock_gettime(CLOCK_REALTIME, &now);
	printf("%d: %016llx of %lu calls, %lu in, %lu out, at %ld.%09ld\n", me,
		(unsigned long long)log_sum, calls, moved[0], moved[1], (long)now.tv_sec,
		now.tv_nsec);
}

int main(void)
{
	for (int k = 0; k < LINKS; k++)
		make_link(k);
	for (int i = 0; i < PEERS; i++)
		if (fork() == 0) {
			peer(i);
			return 0;
		}
	for (int k = 0; k < LINKS; k++) {
		close(in[k]);
		close(out[k]);
	}
	while (wait(NULL) > 0)
		continue;
	return 0;
}
