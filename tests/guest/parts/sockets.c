/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets among guests: unix of every type, TCP and UDP over loopback, descriptors that travel. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BIG = 2 << 20 };

static struct timespec start;
static char big[BIG];

static void say(const char *what, long result)
{
	const int error = errno;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%s: %ld%s%s at %.3f\n", what, result, result < 0 ? " " : "",
		result < 0 ? strerror(error) : "",
		(double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9);
}

static void must(long r, const char *what)
{
	if (r < 0) {
		say(what, r);
		exit(1);
	}
}

static struct sockaddr_in inet_address(int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return a;
}

static int port_of(int fd, int peer)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);

	must(peer ? getpeername(fd, (struct sockaddr *)&a, &len)
		  : getsockname(fd, (struct sockaddr *)&a, &len),
		"name");
	return ntohs(a.sin_port);
}

static void limit(int fd, int what, long ms)
{
	const struct timeval tv = {ms / 1000, ms % 1000 * 1000};

	must(setsockopt(fd, SOL_SOCKET, what, &tv, sizeof(tv)), "limit");
}

static void tcp(void)
{
	struct sockaddr_in a = inet_address(0);
	const int listener = socket(AF_INET, SOCK_STREAM, 0);
	int status;
	char buf[100];

	must(bind(listener, (struct sockaddr *)&a, sizeof(a)), "bind");
	must(listen(listener, 5), "listen");
	printf("listening on %d\n", port_of(listener, 0));
	limit(listener, SO_RCVTIMEO, 2500);
	say("accept in 2.5 s", accept(listener, NULL, NULL));
	limit(listener, SO_RCVTIMEO, 0);
	a = inet_address(port_of(listener, 0));
	if (fork() == 0) {
		const int fd = socket(AF_INET, SOCK_STREAM, 0);

		sleep(1);
		must(connect(fd, (struct sockaddr *)&a, sizeof(a)), "connect");
		must(send(fd, "hello", 5, 0), "send");
		must(send(fd, " world", 6, 0), "send");
		must(recv(fd, buf, 2, MSG_WAITALL) - 2, "recv");
		_exit(write(fd, big, BIG) == BIG ? 0 : 1);
	}
	const int fd = accept(listener, NULL, NULL);
	say("accepted", fd >= 0 ? 0 : -1);
	printf("peer port %d\n", port_of(fd, 1));
	say("recv all", recv(fd, buf, 11, MSG_WAITALL));
	printf("%.11s\n", buf);
	must(write(fd, "o", 1), "write");
	sleep(1);
	must(write(fd, "k", 1), "write");
	say("recv big", recv(fd, big, BIG, MSG_WAITALL));
	say("recv end", recv(fd, buf, 1, 0));
	wait(&status);
	say("status", status);
	close(fd);
	close(listener);
	const int again = socket(AF_INET, SOCK_STREAM, 0);
	say("refused", connect(again, (struct sockaddr *)&a, sizeof(a)));
	close(again);
}

static void udp(void)
{
	struct sockaddr_in a = inet_address(5353), from;
	socklen_t len = sizeof(from);
	const int in = socket(AF_INET, SOCK_DGRAM, 0), out = socket(AF_INET, SOCK_DGRAM, 0);
	char buf[100];

	must(bind(in, (struct sockaddr *)&a, sizeof(a)), "bind");
	limit(in, SO_RCVTIMEO, 700);
	say("udp nothing", recv(in, buf, sizeof(buf), 0));
	must(sendto(out, "datagram", 8, 0, (struct sockaddr *)&a, sizeof(a)), "sendto");
	say("udp", recvfrom(in, buf, sizeof(buf), 0, (struct sockaddr *)&from, &len));
	printf("from port %d\n", ntohs(from.sin_port));
	close(in);
	close(out);
}

/* More datagrams than the queue holds, to a name and over a pair. */
static void datagrams(int type)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "socket"};
	int ends[2], total = 0, status;
	char buf[1000];

	unlink("socket");
	must(socketpair(AF_UNIX, type, 0, ends), "socketpair");
	const int named = socket(AF_UNIX, SOCK_DGRAM, 0);
	must(bind(named, (struct sockaddr *)&a, sizeof(a)), "bind");
	if (fork() == 0) {
		close(ends[0]);
		for (int i = 0; i < 300; i++)
			must(send(ends[1], big, 1000, 0), "send");
		for (int i = 0; i < 50; i++)
			must(sendto(ends[1], big, 1000, MSG_DONTWAIT, NULL, 0) + 1, "try");
		const int out = socket(AF_UNIX, SOCK_DGRAM, 0);
		for (int i = 0; i < 40; i++)
			must(sendto(out, big, 100, 0, (struct sockaddr *)&a, sizeof(a)), "sendto");
		_exit(0);
	}
	close(ends[1]);
	while (total < 300 && recv(ends[0], buf, sizeof(buf), 0) == sizeof(buf))
		total++;
	printf("%d messages\n", total);
	for (total = 0; total < 40; total++)
		if (recv(named, buf, sizeof(buf), 0) != 100)
			break;
	printf("%d to the name\n", total);
	wait(&status);
	say("status", status);
	close(ends[0]);
	close(named);
	unlink("socket");
}

static void backlog(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "socket"};
	const int listener = socket(AF_UNIX, SOCK_STREAM, 0);

	must(bind(listener, (struct sockaddr *)&a, sizeof(a)), "bind");
	must(listen(listener, 0), "listen");
	for (int i = 0; i < 4; i++)
		if (fork() == 0) {
			const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
			const char c = (char)('a' + i);

			must(connect(fd, (struct sockaddr *)&a, sizeof(a)), "connect");
			say("connected", i);
			_exit(write(fd, &c, 1) == 1 ? 0 : 1);
		}
	for (int i = 0; i < 4; i++) {
		char c = '?';

		sleep(1);
		const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		must(read(fd, &c, 1), "read");
		printf("accepted %c\n", c);
		close(fd);
	}
	while (wait(NULL) > 0)
		continue;
	close(listener);
	unlink("socket");
}

/* A descriptor travels with more data than fits. */
static void travels(void)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.h = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec v = {big, BIG};
	struct msghdr m = {.msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	int ends[2], pipe_ends[2], got = -1, status;
	char c = 0;

	must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
	must(pipe(pipe_ends), "pipe");
	if (fork() == 0) {
		memcpy(CMSG_DATA(&control.h), &pipe_ends[1], sizeof(int));
		_exit(sendmsg(ends[1], &m, 0) == BIG ? 0 : 1);
	}
	close(ends[1]);
	close(pipe_ends[1]);
	v.iov_len = 10;
	say("message", recvmsg(ends[0], &m, 0));
	memcpy(&got, CMSG_DATA(&control.h), sizeof(int));
	long total = 10;
	for (ssize_t n; (n = read(ends[0], big, BIG)) > 0;)
		total += n;
	say("rest", total);
	must(write(got, "t", 1), "write to what came");
	must(read(pipe_ends[0], &c, 1), "read");
	printf("through it: %c\n", c);
	wait(&status);
	say("status", status);
	close(ends[0]);
}

static void several(void)
{
	int ends[2];
	struct mmsghdr m[5] = {{{0}, 0}};
	struct iovec v[5];
	char text[5][8];
	struct timespec limit_ts = {3, 0};

	must(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), "socketpair");
	for (int i = 0; i < 5; i++) {
		v[i].iov_base = text[i];
		v[i].iov_len = 8;
		m[i].msg_hdr.msg_iov = &v[i];
		m[i].msg_hdr.msg_iovlen = 1;
	}
	if (fork() == 0) {
		for (int i = 0; i < 3; i++) {
			sleep(1);
			must(sendmmsg(ends[1], m, 2, 0), "sendmmsg");
		}
		_exit(0);
	}
	say("recvmmsg five", recvmmsg(ends[0], m, 5, 0, NULL));
	say("recvmmsg one", recvmmsg(ends[0], m, 5, MSG_WAITFORONE, NULL));
	if (fork() == 0) {
		must(send(ends[1], "x", 1, 0), "send");
		_exit(0);
	}
	say("recvmmsg 3 s", recvmmsg(ends[0], m, 5, 0, &limit_ts));
	while (wait(NULL) > 0)
		continue;
	close(ends[0]);
	close(ends[1]);
}

/* A name that the kernel would choose at random. */
static void unnamed(void)
{
	for (int i = 0; i < 2; i++) {
		struct sockaddr_un a = {.sun_family = AF_UNIX};
		socklen_t len = sizeof(a);
		const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		must(bind(fd, (struct sockaddr *)&a, sizeof(sa_family_t)), "bind");
		must(getsockname(fd, (struct sockaddr *)&a, &len), "getsockname");
		printf("chosen %s, %u\n", a.sun_path + 1, (unsigned)len);
	}
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	clock_gettime(CLOCK_MONOTONIC, &start);
	tcp();
	udp();
	datagrams(SOCK_DGRAM);
	datagrams(SOCK_SEQPACKET);
	backlog();
	travels();
	several();
	unnamed();
	return 0;
}
