/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signalfd: several at one read, what they say, poll and epoll, a changed mask, shared by fork, and
 * the race with sigwait.
 *: native
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;

static const char *whose(uint32_t pid)
{
	return pid == 0			? "none"
	       : (pid_t)pid == getpid() ? "self"
	       : (pid_t)pid == child	? "child"
					: "other";
}

static void take(const char *what, int fd)
{
	struct signalfd_siginfo info[8];
	ssize_t n;

	errno = 0;
	n = read(fd, info, sizeof(info));
	printf("%s: %zd %s\n", what, n < 0 ? n : n / (ssize_t)sizeof(*info),
		n < 0 ? strerrorname_np(errno) : "");
	for (ssize_t i = 0; i < n / (ssize_t)sizeof(*info); i++)
		printf("  signal %u code %d pid %s status %d value %d\n", info[i].ssi_signo,
			info[i].ssi_code, whose(info[i].ssi_pid), info[i].ssi_status,
			info[i].ssi_int);
	fflush(stdout);
}

static int ready(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN | POLLOUT};

	poll(&p, 1, 0);
	return p.revents;
}

int main(void)
{
	sigset_t set;
	struct epoll_event event = {.events = EPOLLIN, .data = {.u32 = 7}}, got;
	int fd, many = epoll_create1(0);

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, 40);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	epoll_ctl(many, EPOLL_CTL_ADD, fd, &event);
	take("nothing", fd);
	printf("ready %d, epoll %d\n", ready(fd), epoll_wait(many, &got, 1, 0));
	for (int i = 0; i < 3; i++)
		sigqueue(getpid(), 40, (union sigval){.sival_int = i});
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR1);
	printf("ready %d, epoll %d\n", ready(fd), epoll_wait(many, &got, 1, 0));
	take("several", fd);
	printf("ready %d, epoll %d\n", ready(fd), epoll_wait(many, &got, 1, 0));
	child = fork();
	if (child == 0) {
		usleep(20000);
		sigqueue(getppid(), 40, (union sigval){.sival_int = 9});
		usleep(20000);
		_exit(6);
	}
	printf("epoll %d\n", epoll_wait(many, &got, 1, -1));
	take("of the child", fd);
	printf("poll %d\n", poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 5000));
	take("its end", fd);
	wait(NULL);
	/* Another mask for the same descriptor. */
	sigdelset(&set, SIGUSR1);
	signalfd(fd, &set, 0);
	kill(getpid(), SIGUSR1);
	take("no longer wanted", fd);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	printf("but still pending: %d\n", sigtimedwait(&set, NULL, &(struct timespec){0, 0}));
	printf("too small a buffer: %zd", read(fd, (char[64]){0}, 64));
	printf(" %s\n", strerrorname_np(errno));
	return 0;
}
