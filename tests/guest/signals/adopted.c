/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PR_SET_CHILD_SUBREAPER: orphans come to the nearest one, not inherited by fork, and dead ones can
 * be collected there.
 *: native
 *: long
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int report[2];

static const char *who(pid_t pid, pid_t top, pid_t middle)
{
	return pid == top ? "the top" : pid == middle ? "the middle" : "somebody else";
}

/* Its parent ends; it waits until another one is its parent. */
static void orphan(pid_t top, pid_t middle, pid_t parent)
{
	while (getppid() == parent)
		usleep(1000);
	usleep(10000);
	dprintf(report[1], "adopted by %s\n", who(getppid(), top, middle));
	_exit(3);
}

static void middle(pid_t top, int reaps)
{
	int status, flag = -1;
	pid_t pid, self = getpid();

	prctl(PR_GET_CHILD_SUBREAPER, &flag);
	dprintf(report[1], "inherited: %d\n", flag);
	prctl(PR_SET_CHILD_SUBREAPER, reaps);
	pid = fork();
	if (pid == 0) {
		pid_t parent = getpid();

		if (fork() == 0)
			orphan(top, self, parent);
		_exit(0);
	}
	/* The child first, then the orphan if it came here. */
	waitpid(pid, NULL, 0);
	while (wait(&status) > 0)
		dprintf(report[1], "the middle collects %d\n", WEXITSTATUS(status));
	_exit(0);
}

static void try(int reaps)
{
	char text[512];
	ssize_t n;
	int status;
	pid_t top = getpid();

	if (pipe(report) < 0)
		_exit(1);
	if (fork() == 0)
		middle(top, reaps);
	close(report[1]);
	while ((n = read(report[0], text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)n, stdout);
	close(report[0]);
	while (wait(&status) > 0)
		printf("the top collects %d\n", WEXITSTATUS(status));
	fflush(stdout);
}

int main(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	try(1);
	try(0);
	return 0;
}
