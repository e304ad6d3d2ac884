/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Out of band data over TCP: SIGURG to the owner, POLLPRI, the mark, inline and not.
 *: native
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <pthread.h>

#include "../tcp.h"

static volatile sig_atomic_t urged;
static int s[2];

static void on_urge(int sig)
{
	(void)sig;
	urged++;
}

static void *later(void *unused)
{
	usleep(50000);
	MUST(send(s[0], "!", 1, MSG_OOB));
	return unused;
}

static void look(const char *name)
{
	struct pollfd p = {.fd = s[1], .events = POLLIN | POLLPRI};
	int mark = -1;

	MUST(poll(&p, 1, 0));
	MUST(ioctl(s[1], SIOCATMARK, &mark));
	printf("%s: %x, mark %d\n", name, p.revents, mark);
}

int main(void)
{
	struct sigaction a = {.sa_handler = on_urge};
	struct pollfd p;
	char room[20] = "";
	pthread_t thread;
	sigset_t set;
	int on = 1;

	sigaction(SIGURG, &a, NULL);
	connected(s);
	MUST(fcntl(s[1], F_SETOWN, getpid()));
	MUST(send(s[0], "abc", 3, 0));
	MUST(send(s[0], "X", 1, MSG_OOB));
	MUST(send(s[0], "def", 3, 0));
	usleep(50000);
	look("urged");
	printf("%d signals\n", urged);
	tell("to the mark", read(s[1], room, sizeof(room)));
	look("at it");
	tell("the byte", recv(s[1], room, sizeof(room), MSG_OOB));
	printf("%c\n", room[0]);
	tell("again", recv(s[1], room, sizeof(room), MSG_OOB));
	tell("the rest", read(s[1], room, sizeof(room)));
	MUST(setsockopt(s[1], SOL_SOCKET, SO_OOBINLINE, &on, sizeof(on)));
	MUST(send(s[0], "gh", 2, MSG_OOB));
	tell("inline", read(s[1], room, sizeof(room)));
	tell("the byte inline", read(s[1], room, sizeof(room)));
	sigemptyset(&set);
	sigaddset(&set, SIGURG);
	pthread_create(&thread, NULL, later, NULL);
	p = (struct pollfd){.fd = s[1], .events = POLLPRI};
	while (poll(&p, 1, -1) < 0)
		;
	printf("%x\n", p.revents);
	pthread_join(thread, NULL);
	printf("%d signals\n", urged);
	return 0;
}
