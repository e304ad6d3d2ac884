/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals of descriptors: SIGIO and F_SETSIG with what siginfo says, the owner, and SIGURG; SIGPIPE
 * of pipes and sockets.
 *: native
 *: long
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static sigset_t set;

static void take(const char *what, int fd)
{
	siginfo_t info = {0};
	int sig = sigtimedwait(&set, &info, &(struct timespec){0, 20000000});

	if (sig < 0)
		printf("%s: none\n", what);
	else
		printf("%s: signal %d code %d band %ld descriptor %s\n", what, sig, info.si_code,
			info.si_code > 0 && sig > 33 ? info.si_band : 0,
			info.si_code > 0 && sig > 33 && info.si_fd == fd ? "its" : "none");
	fflush(stdout);
}

static void watch(int fd, int sig, pid_t owner)
{
	fcntl(fd, F_SETOWN, owner);
	fcntl(fd, F_SETSIG, sig);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC);
}

static void broken(const char *what, int fd)
{
	ssize_t n = write(fd, "x", 1);

	printf("%s: %zd %s\n", what, n, strerrorname_np(errno));
	take("and", -1);
}

int main(void)
{
	int fds[2], pair[2];
	char text[8];
	pid_t pid;

	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	if (pipe(fds) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		return 1;
	watch(fds[0], 0, getpid());
	printf("write %zd\n", write(fds[1], "x", 1));
	take("SIGIO", fds[0]);
	watch(fds[0], SIGRTMIN + 3, getpid());
	printf("write %zd\n", write(fds[1], "x", 1));
	take("F_SETSIG", fds[0]);
	take("once", fds[0]);
	watch(pair[0], SIGRTMIN + 4, getpid());
	pid = fork();
	if (pid == 0)
		_exit(send(pair[1], "abc", 3, 0) == 3 ? 0 : 1);
	waitpid(pid, NULL, 0);
	take("the child", -1);
	take("of a socket", pair[0]);
	printf("recv %zd\n", recv(pair[0], text, sizeof(text), 0));
	fcntl(pair[0], F_SETFL, 0);
	close(fds[0]);
	broken("pipe", fds[1]);
	close(pair[1]);
	broken("socket", pair[0]);
	printf("MSG_NOSIGNAL %zd\n", send(pair[0], "x", 1, MSG_NOSIGNAL));
	take("and", -1);
	return 0;
}
