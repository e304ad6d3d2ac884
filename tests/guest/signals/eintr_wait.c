/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signal while a task waits for a child.
 *: native
 */
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eintr.h"

static pid_t child;

static void end_child(void)
{
	kill(child, SIGKILL);
}

static pid_t make(void)
{
	child = fork();
	if (child == 0)
		for (;;)
			pause();
	return child;
}

/* A child that an interrupted wait left is collected. */
static long tidy(long result)
{
	int saved = errno;

	if (result < 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	errno = saved;
	return result;
}

static void by_its_own_end(int restart)
{
	int status;
	struct sigaction action = {
		.sa_handler = eintr_handler, .sa_flags = restart ? SA_RESTART : 0};
	pid_t r;

	eintr_taken = 0;
	sigaction(SIGCHLD, &action, NULL);
	child = fork();
	if (child == 0) {
		usleep(20000);
		_exit(3);
	}
	r = waitpid(child, &status, 0);
	printf("a child's own SIGCHLD%s: %s, status %d, %d signals\n",
		restart ? " with SA_RESTART" : "", r == child ? "the child" : "not", status,
		(int)eintr_taken);
	signal(SIGCHLD, SIG_DFL);
}

int main(void)
{
	siginfo_t info;
	int status;

	EINTR_TRY("wait", end_child, (make(), tidy(wait(&status))));
	EINTR_TRY("waitpid", end_child, (make(), tidy(waitpid(child, &status, 0))));
	EINTR_TRY("waitpid of a group", end_child, (make(), tidy(waitpid(0, &status, 0))));
	EINTR_TRY("wait for a stop", end_child,
		(make(), tidy(waitpid(child, &status, WUNTRACED | WCONTINUED))));
	EINTR_TRY("waitid", end_child, (make(), tidy(waitid(P_PID, (id_t)child, &info, WEXITED))));
	EINTR_TRY("waitid without taking", end_child,
		(make(), waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) == 0 ? tidy(-1) * 0
										   : tidy(-1)));
	by_its_own_end(0);
	by_its_own_end(1);
	return 0;
}
