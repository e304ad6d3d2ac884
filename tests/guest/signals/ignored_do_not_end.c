/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals that are ignored, by default or by choice, end no wait; blocked ones are kept for whoever
 * asks for them.
 *: native
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int fds[2], sockets[2], many;
static sigset_t usr1;

static long by_sigtimedwait(void)
{
	return sigtimedwait(&usr1, NULL, &(struct timespec){0, 100000000});
}

static long by_epoll(void)
{
	struct epoll_event event;

	return epoll_wait(many, &event, 1, 100);
}

static long by_receive(void)
{
	char byte;

	return recv(sockets[0], &byte, 1, 0);
}

static long by_poll(void)
{
	return poll(NULL, 0, 100);
}

static long by_ppoll(void)
{
	sigset_t none;

	sigemptyset(&none);
	return ppoll(NULL, 0, &(struct timespec){0, 100000000}, &none);
}

static long by_read(void)
{
	char byte;

	return read(fds[0], &byte, 1);
}

static const struct {
	const char *name;
	long (*call)(void);
} calls[] = {{"sigtimedwait", by_sigtimedwait}, {"epoll_wait", by_epoll},
	{"recv with a time-out", by_receive}, {"poll", by_poll}, {"ppoll", by_ppoll},
	{"read", by_read}};

/* A child sends them, and the end of another is SIGCHLD. */
static void try(int i)
{
	long r;

	if (fork() == 0) {
		if (fork() == 0)
			_exit(0);
		usleep(10000);
		kill(getppid(), SIGWINCH);
		kill(getppid(), SIGURG);
		usleep(10000);
		kill(getppid(), SIGUSR2);
		usleep(100000);
		_exit(write(fds[1], "x", 1) == 1 ? 0 : 1);
	}
	if (fork() == 0)
		_exit(0);
	errno = 0;
	r = calls[i].call();
	printf("%s: %ld %s\n", calls[i].name, r, r < 0 ? strerrorname_np(errno) : "");
	fflush(stdout);
	while (wait(NULL) > 0)
		continue;
}

int main(void)
{
	const struct timeval limit = {0, 100000};
	sigset_t pending, set;

	many = epoll_create1(0);
	if (pipe(fds) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0)
		return 1;
	setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	signal(SIGUSR2, SIG_IGN);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		try((int)i);
	sigpending(&pending);
	printf("pending: %d %d\n", sigismember(&pending, SIGUSR2), sigismember(&pending, SIGCHLD));
	/* Blocked, they are kept. */
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR2);
	printf("blocked and ignored: %d\n", sigtimedwait(&set, NULL, &(struct timespec){1, 0}));
	if (fork() == 0) {
		usleep(10000);
		_exit(kill(getppid(), SIGWINCH));
	}
	printf("waited for: %d\n", sigwaitinfo(&set, NULL));
	wait(NULL);
	return 0;
}
