/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ptrace is refused: there is a tracer, and a task has one.
 *: out traceme: EPERM
 *: out seize: EPERM
 *: out attach: EPERM
 *: out the child goes on
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(const char *what, long r)
{
	printf("%s: %s\n", what, r < 0 ? strerrorname_np(errno) : "done");
	fflush(stdout);
}

int main(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		tell("traceme", ptrace(PTRACE_TRACEME, 0, 0, 0));
		pause();
		_exit(0);
	}
	usleep(1000);
	tell("seize", ptrace(PTRACE_SEIZE, pid, 0, 0));
	tell("attach", ptrace(PTRACE_ATTACH, pid, 0, 0));
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
	puts("the child goes on");
	return 0;
}
