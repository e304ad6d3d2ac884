/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task is stopped and goes on while it waits in a call: no handler runs, and only a few calls
 * tell.
 *: native
 *: long
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int fds[2], sockets[2];

static void by_read(void)
{
	char byte;

	if (read(fds[0], &byte, 1) >= 0)
		errno = 0;
}

static void by_poll(void)
{
	struct pollfd p = {.fd = fds[0], .events = POLLIN};

	poll(&p, 1, 100);
}

static void by_epoll(void)
{
	struct epoll_event event;

	epoll_wait(epoll_create1(0), &event, 1, 100);
}

static void by_sleep(void)
{
	const struct timespec ts = {0, 100000000};

	nanosleep(&ts, NULL);
}

static void by_sigtimedwait(void)
{
	const struct timespec ts = {0, 100000000};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigtimedwait(&set, NULL, &ts);
}

static void by_receive(void)
{
	const struct timeval limit = {0, 100000};
	char byte;

	setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	recv(sockets[0], &byte, 1, 0);
}

static void by_wait(void)
{
	if (fork() == 0) {
		usleep(100000);
		_exit(0);
	}
	wait(NULL);
}

static void by_pause(void)
{
	struct sigaction action = {.sa_handler = SIG_IGN};

	sigaction(SIGALRM, &action, NULL);
	pause();
}

static void by_inotify(void)
{
	char events[4096];

	if (read(inotify_init1(0), events, sizeof(events)) >= 0)
		errno = 0;
}

static const struct {
	const char *name;
	void (*call)(void);
	int ends; /* by itself */
} calls[] = {{"read", by_read, 0}, {"poll", by_poll, 1}, {"epoll_wait", by_epoll, 1},
	{"nanosleep", by_sleep, 1}, {"sigtimedwait", by_sigtimedwait, 1},
	{"recv with a time-out", by_receive, 1}, {"wait", by_wait, 1}, {"pause", by_pause, 0},
	{"inotify", by_inotify, 0}};

static void try(int i)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		errno = 0;
		calls[i].call();
		printf("%s: %s\n", calls[i].name, errno ? strerrorname_np(errno) : "done");
		fflush(stdout);
		_exit(0);
	}
	usleep(20000);
	kill(pid, SIGSTOP);
	waitpid(pid, &status, WUNTRACED);
	printf("%s: stopped by %d\n", calls[i].name, WSTOPSIG(status));
	fflush(stdout);
	kill(pid, SIGCONT);
	waitpid(pid, &status, WCONTINUED);
	printf("%s: continued %d\n", calls[i].name, WIFCONTINUED(status));
	fflush(stdout);
	usleep(20000);
	if (!calls[i].ends && kill(pid, SIGKILL) == 0)
		printf("%s: killed\n", calls[i].name);
	fflush(stdout);
	waitpid(pid, &status, 0);
}

int main(void)
{
	if (pipe(fds) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0)
		return 1;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		try((int)i);
	return 0;
}
