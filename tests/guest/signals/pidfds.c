/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pidfd_open, poll and epoll of it, pidfd_send_signal, waitid with P_PIDFD, and errors.
 *: native
 *: rootless
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

static void tell(const char *what, long r)
{
	printf("%s: %s\n", what, r < 0 ? strerrorname_np(errno) : "done");
	fflush(stdout);
}

static long send_signal(int fd, int sig, siginfo_t *info)
{
	return syscall(SYS_pidfd_send_signal, fd, sig, info, 0);
}

static int look(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	poll(&p, 1, 0);
	return p.revents;
}

static int ended(int fd, int options)
{
	siginfo_t info = {0};
	int r = waitid(P_PIDFD, (id_t)fd, &info, options);

	if (r < 0)
		return -errno;
	return info.si_pid ? 1000 * info.si_code + info.si_status : 0;
}

int main(void)
{
	struct epoll_event event = {.events = EPOLLIN, .data = {.u32 = 5}}, got = {0};
	siginfo_t info = {.si_signo = SIGUSR1, .si_code = SI_QUEUE};
	int fd, many = epoll_create1(0), status;
	char byte;
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	printf("close on exec %d\n", fcntl(fd, F_GETFD));
	epoll_ctl(many, EPOLL_CTL_ADD, fd, &event);
	printf("alive: poll %d epoll %d\n", look(fd), epoll_wait(many, &got, 1, 0));
	tell("read", read(fd, &byte, 1));
	tell("signal 0", send_signal(fd, 0, NULL));
	tell("SIGSTOP", send_signal(fd, SIGSTOP, NULL));
	printf("stopped %d\n", ended(fd, WSTOPPED));
	tell("SIGCONT", send_signal(fd, SIGCONT, NULL));
	printf("continued %d\n", ended(fd, WCONTINUED));
	printf("alive %d\n", ended(fd, WEXITED | WNOHANG));
	tell("another number inside", send_signal(fd, SIGUSR2, &info));
	tell("bad flags", syscall(SYS_pidfd_send_signal, fd, 0, NULL, 1 << 20));
	tell("SIGUSR1 with a siginfo", send_signal(fd, SIGUSR1, &info));
	printf("epoll %d data %u\n", epoll_wait(many, &got, 1, -1), got.data.u32);
	printf("dead: poll %d\n", look(fd));
	printf("left %d\n", ended(fd, WEXITED | WNOWAIT));
	tell("a zombie gets it", send_signal(fd, SIGTERM, NULL));
	printf("taken %d\n", ended(fd, WEXITED));
	printf("gone %d\n", ended(fd, WEXITED));
	tell("nobody gets it", send_signal(fd, SIGTERM, NULL));
	printf("poll %d\n", look(fd));
	tell("open of the dead", syscall(SYS_pidfd_open, pid, 0));
	tell("open of 0", syscall(SYS_pidfd_open, 0, 0));
	tell("odd flags", syscall(SYS_pidfd_open, getpid(), 1));
	tell("not a pidfd", send_signal(1, 0, NULL));
	pid = fork();
	if (pid == 0) {
		usleep(20000);
		_exit(9);
	}
	fd = (int)syscall(SYS_pidfd_open, pid, O_NONBLOCK);
	printf("not blocking %d\n", ended(fd, WEXITED));
	printf("poll waits %d\n", poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, -1));
	printf("taken %d\n", ended(fd, WEXITED));
	waitpid(pid, &status, 0);
	return 0;
}
