/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kill(-1): everybody but the sender and init.
 *: long
 *: out kill: 0
 *: out child 0 ended by 10
 *: out child 1 ended by 10
 *: out child 2 ended by 10
 *: out kill: 0
 *: out child 0 ended by 9
 *: out child 1 ended by 9
 *: out child 2 ended by 9
 *: out nobody: ESRCH
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	const int signals[] = {SIGUSR1, SIGKILL};

	if (getpid() != 64)
		return 1; /* not in a sandbox: it would end the machine */
	for (int round = 0; round < 2; round++) {
		pid_t pids[3];
		int status;

		for (int i = 0; i < 3; i++) {
			pids[i] = fork();
			if (pids[i] == 0) {
				setsid();
				for (;;)
					pause();
			}
		}
		usleep(1000);
		printf("kill: %d\n", kill(-1, signals[round]));
		for (int i = 0; i < 3; i++) {
			waitpid(pids[i], &status, 0);
			printf("child %d ended by %d\n", i, WTERMSIG(status));
		}
		fflush(stdout);
	}
	if (kill(-1, SIGUSR1) < 0)
		printf("nobody: %s\n", strerrorname_np(errno));
	return 0;
}
