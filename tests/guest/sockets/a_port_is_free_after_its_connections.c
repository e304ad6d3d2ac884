/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that closed its connections first binds its port again at once, without SO_REUSEADDR: no
 * connection rests for a minute of the host's time.
 *: pinned
 *: rootless
 *: out bound again: 0
 *: out bound again: 0
 *: out late data: 5
 *: out and the end: 0
 */
#include "../tcp.h"

static void serve(struct sockaddr_in *a, int listener)
{
	int s, t;
	char c;

	MUST(listen(listener, 5));
	s = connected_to(a);
	t = MUST(accept(listener, NULL, NULL));
	close(t); /* the server's side rests */
	MUST(read(s, &c, 1) + 1);
	close(s);
	close(listener);
}

int main(void)
{
	struct sockaddr_in a;
	char room[10];
	int listener = bound(SOCK_STREAM, &a), s[2];

	serve(&a, listener);
	for (int i = 0; i < 2; i++) {
		listener = MUST(socket(AF_INET, SOCK_STREAM, 0));
		tell("bound again", bind(listener, (struct sockaddr *)&a, sizeof(a)));
		serve(&a, listener);
	}
	/* A half that is left alone stays whole. */
	connected(s);
	MUST(write(s[0], "hello", 5));
	close(s[0]);
	usleep(10000);
	tell("late data", read(s[1], room, sizeof(room)));
	tell("and the end", read(s[1], room, sizeof(room)));
	MUST(shutdown(s[1], SHUT_WR));
	return 0;
}
