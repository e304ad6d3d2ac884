/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dead children are found in the order of their birth, whatever the order of their deaths, and by
 * who asked for.
 *: long
 *: native
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 6 };
static pid_t pids[CHILDREN];

static int number(pid_t pid)
{
	for (int i = 0; i < CHILDREN; i++)
		if (pids[i] == pid)
			return i;
	return -1;
}

/* Ends when its pipe is closed. */
static pid_t make(int fds[2], int group)
{
	pid_t pid;
	char byte;

	if (pipe(fds) < 0)
		_exit(1);
	pid = fork();
	if (pid == 0) {
		if (group)
			setpgid(0, 0);
		close(fds[1]);
		if (read(fds[0], &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	close(fds[0]);
	return pid;
}

static void end(int i, int fd)
{
	siginfo_t info;

	close(fd);
	waitid(P_PID, (id_t)pids[i], &info, WEXITED | WNOWAIT);
}

static void tell(const char *what, int r)
{
	printf("%s: %d %s\n", what, r, strerrorname_np(errno));
}

int main(void)
{
	const int order[CHILDREN] = {4, 1, 5, 0, 3, 2};
	int fds[CHILDREN][2], status;
	siginfo_t info;

	for (int i = 0; i < CHILDREN; i++) {
		pids[i] = make(fds[i], i == 2);
		/* Its copies of the others' ends would keep them alive. */
		if (i == 2)
			setpgid(pids[2], pids[2]);
	}
	for (int i = 0; i < CHILDREN; i++)
		kill(pids[order[i]], SIGKILL), end(order[i], fds[order[i]][1]);
	waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
	printf("first seen: %d\n", number(info.si_pid));
	printf("by group: %d\n", number(waitpid(-pids[2], &status, 0)));
	printf("by name: %d\n", number(waitpid(pids[3], &status, 0)));
	for (int i = 0; i < CHILDREN - 2; i++)
		printf("any: %d\n", number(wait(&status)));
	tell("none", wait(&status));
	tell("no such", waitpid(pids[0], &status, WNOHANG));
	tell("bad options", waitpid(-1, &status, 0x40));
	tell("nothing to wait for", waitid(P_ALL, 0, &info, 0));
	return 0;
}
