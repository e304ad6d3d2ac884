/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SO_RCVTIMEO and SO_SNDTIMEO: of receiving, accepting, sending to a full socket, connecting to a
 *full queue; and a handler ends such a call whatever SA_RESTART says.
 *
 *: native
 */
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "say.h"

static void on_alarm(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
}

static void limit(int fd, int option, int ms)
{
	const struct timeval tv = {0, ms * 1000};
	struct timeval back = {0, 0};
	socklen_t len = sizeof(back);

	setsockopt(fd, SOL_SOCKET, option, &tv, sizeof(tv));
	getsockopt(fd, SOL_SOCKET, option, &back, &len);
	if (back.tv_usec != tv.tv_usec)
		printf("another limit: %ld\n", (long)back.tv_usec);
}

static int64_t start;

static void told(const char *what, long result)
{
	say(what, result);
	printf("  20 ms at least: %s\n", now_ns(CLOCK_MONOTONIC) - start >= 19 * MS ? "yes" : "no");
	start = now_ns(CLOCK_MONOTONIC);
}

int main(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "\0a queue"};
	struct timeval bad = {0, 1000000};
	static char data[1 << 20];
	int pair[2], listener, client;
	char byte;

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	limit(pair[0], SO_RCVTIMEO, 20);
	limit(pair[0], SO_SNDTIMEO, 20);
	start = now_ns(CLOCK_MONOTONIC);
	told("recv", recv(pair[0], &byte, 1, 0));
	told("read", read(pair[0], &byte, 1));
	printf("send: %s\n", send(pair[0], data, sizeof(data), 0) > 0 ? "a part" : "nothing");
	start = now_ns(CLOCK_MONOTONIC);
	told("send", send(pair[0], data, 1, 0));
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t) + 8);
	listen(listener, 0);
	limit(listener, SO_RCVTIMEO, 20);
	told("accept", accept(listener, NULL, NULL));
	for (int i = 0; i < 2; i++) {
		client = socket(AF_UNIX, SOCK_STREAM, 0);
		limit(client, SO_SNDTIMEO, 20);
		start = now_ns(CLOCK_MONOTONIC);
		const int r = connect(client, (struct sockaddr *)&address, sizeof(sa_family_t) + 8);
		if (r)
			told("connect", r);
		else
			say("connect", r);
	}
	say("no time-out", setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &bad, sizeof(bad)));
	struct itimerval once = {{0, 0}, {0, 100000}};
	handle(SIGALRM, on_alarm, SA_RESTART);
	limit(pair[0], SO_RCVTIMEO, 900);
	setitimer(ITIMER_REAL, &once, NULL);
	say("interrupted", recv(pair[0], &byte, 1, 0));
	return 0;
}
