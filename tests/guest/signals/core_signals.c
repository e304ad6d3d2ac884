/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals that end a process, those that would leave a core, and those that do nothing: the status
 * of each.
 *: native
 *: long
 */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	for (int sig = 1; sig < 65; sig++) {
		int status;
		pid_t pid;

		if (sig == 32 || sig == 33)
			continue; /* the C library's own */
		pid = fork();
		if (pid == 0) {
			setpgid(0, 0); /* not an orphaned group, where stops do nothing */
			kill(getpid(), sig);
			_exit(0);
		}
		waitpid(pid, &status, WUNTRACED);
		printf("%d: ", sig);
		if (WIFSIGNALED(status))
			printf("ended by %d, core %d\n", WTERMSIG(status), WCOREDUMP(status) != 0);
		else if (WIFSTOPPED(status))
			printf("stopped by %d\n", WSTOPSIG(status));
		else
			printf("went on\n");
		if (WIFSTOPPED(status)) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
		}
		fflush(stdout);
	}
	return 0;
}
