/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kill of a group, of one's own group, and what is refused.
 *: native
 *: long
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEMBERS = 3 };

static void tell(const char *what, int r)
{
	printf("%s: %s\n", what, r < 0 ? strerrorname_np(errno) : "done");
	fflush(stdout);
}

static pid_t make(pid_t group)
{
	pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, group);
		for (;;)
			pause();
	}
	setpgid(pid, group);
	return pid;
}

static void collect(const pid_t *pids)
{
	int status;

	for (int i = 0; i < MEMBERS; i++) {
		waitpid(pids[i], &status, 0);
		printf("member %d: %d\n", i, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	}
	fflush(stdout);
}

static void round_of(int sig)
{
	pid_t pids[MEMBERS];

	for (int i = 0; i < MEMBERS; i++)
		pids[i] = make(i ? pids[0] : 0);
	tell("none of them", kill(-pids[1], 0));
	tell("the group", kill(-pids[0], sig));
	collect(pids);
	tell("no group any more", kill(-pids[0], sig));
}

/* A child whose group is its own kills that: itself too. */
static void own(int sig)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		if (fork() == 0)
			for (;;)
				pause();
		kill(0, sig);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	printf("its own group: %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	fflush(stdout);
}

int main(void)
{
	round_of(SIGTERM);
	round_of(SIGKILL);
	own(SIGTERM);
	own(SIGKILL);
	tell("no such process", kill(0x3ffffff, 0));
	tell("bad signal", kill(getpid(), 65));
	tell("bad signal", kill(getpid(), -1));
	tell("not a group", kill(-0x3ffffff, SIGTERM));
	return 0;
}
