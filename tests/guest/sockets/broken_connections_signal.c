/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGPIPE: for writes to a connection that is gone, once each; not with MSG_NOSIGNAL, not for a
 * part of a write that was sent before.
 *: native
 *: long
 */
#include <pthread.h>
#include <signal.h>

#include "../tcp.h"

static volatile sig_atomic_t broken;
static int s[2];

static void on_pipe(int sig)
{
	(void)sig;
	broken++;
}

static void *leave(void *unused)
{
	usleep(100000);
	close(s[1]);
	return unused;
}

static void one(const char *name)
{
	static char big[16 << 20];
	pthread_t thread;
	ssize_t n;

	broken = 0;
	pthread_create(&thread, NULL, leave, NULL);
	n = write(s[0], big, sizeof(big));
	pthread_join(thread, NULL);
	printf("%s: a part: %d, %d signals\n", name, n > 0 && n < (ssize_t)sizeof(big), broken);
	n = send(s[0], "x", 1, 0);
	if (n < 0 && errno == ECONNRESET) /* TCP tells that once */
		n = send(s[0], "x", 1, 0);
	printf("%s: %zd, %d signals\n", name, n, broken);
	n = send(s[0], "x", 1, MSG_NOSIGNAL);
	printf("%s: %zd %s, %d signals\n", name, n, strerror(errno), broken);
	close(s[0]);
}

int main(void)
{
	struct sigaction a = {.sa_handler = on_pipe};

	sigaction(SIGPIPE, &a, NULL);
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	one("unix");
	connected(s);
	one("tcp");
	return 0;
}
