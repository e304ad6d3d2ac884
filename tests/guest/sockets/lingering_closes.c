/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SO_LINGER: what was set is told; zero seconds reset the connection; with seconds the data arrive
 * and closing takes no time, even when nobody reads.
 *: pinned
 *: long
 *: out set 0: {0 0}
 *: out set 0: {1 5}
 *: out set 0: {0 0}
 *: out set 0: {1 0}
 *: out sent before: 1
 *: out reset: -1 Connection reset by peer
 *: out all of 200000 after 0 s
 *: out closed with a full buffer after 0 s
 *: out too short: -1 Invalid argument
 */
#include <fcntl.h>
#include <time.h>

#include "../tcp.h"

static int lingers(int s, int on, int seconds)
{
	struct linger l = {on, seconds};

	return setsockopt(s, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
}

static void set(int s, int on, int seconds)
{
	int r = lingers(s, on, seconds);
	struct linger l = {9, 9};
	socklen_t len = sizeof(l);

	MUST(getsockopt(s, SOL_SOCKET, SO_LINGER, &l, &len));
	printf("set %d: {%d %d}\n", r, l.l_onoff, l.l_linger);
}

int main(void)
{
	static char big[200000];
	int s[2];
	long all = 0;
	time_t start;
	ssize_t n;

	connected(s);
	set(s[0], 0, 7);
	set(s[0], 1, 5);
	set(s[0], 0, 0);
	set(s[0], 1, 0);
	MUST(write(s[0], "x", 1));
	close(s[0]);
	tell("sent before", read(s[1], big, 1));
	tell("reset", read(s[1], big, 1));
	connected(s);
	start = time(NULL);
	MUST(lingers(s[0], 1, 10));
	MUST(write(s[0], big, sizeof(big)));
	close(s[0]);
	while ((n = MUST(read(s[1], big, sizeof(big)))) > 0)
		all += n;
	printf("all of %ld after %ld s\n", all, (long)(time(NULL) - start));
	connected(s);
	MUST(lingers(s[0], 1, 3));
	MUST(fcntl(s[0], F_SETFL, O_NONBLOCK));
	while (write(s[0], big, sizeof(big)) > 0)
		;
	MUST(fcntl(s[0], F_SETFL, 0));
	close(s[0]);
	printf("closed with a full buffer after %ld s\n", (long)(time(NULL) - start));
	tell("too short", setsockopt(s[1], SOL_SOCKET, SO_LINGER, big, 4));
	return 0;
}
