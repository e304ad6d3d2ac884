/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SEM_UNDO: what a process took comes back when it ends, and wakes who waits for it.
 *
 *: native
 *: rootless
 */
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/wait.h>

#include "say.h"

int main(void)
{
	struct sembuf take = {0, -1, SEM_UNDO}, give = {0, 1, SEM_UNDO}, plain = {0, -1, 0};
	const int id = semget(IPC_PRIVATE, 1, 0600);
	int ends[2];
	char c = 0;

	semctl(id, 0, SETVAL, 1);
	if (pipe(ends))
		return 1;
	const pid_t child = fork();
	if (child == 0) {
		semop(id, &take, 1);
		if (write(ends[1], "x", 1) == 1)
			pause();
		_exit(0);
	}
	if (read(ends[0], &c, 1) != 1)
		return 1;
	printf("taken: %d, by the child: %s\n", semctl(id, 0, GETVAL),
		semctl(id, 0, GETPID) == child ? "yes" : "no");
	if (fork() == 0) {
		say("grandchild got it", semop(id, &plain, 1));
		fflush(stdout);
		_exit(0);
	}
	while (semctl(id, 0, GETNCNT) < 1)
		pause_ms(1);
	fflush(stdout);
	kill(child, SIGKILL);
	wait(NULL);
	wait(NULL);
	printf("value: %d\n", semctl(id, 0, GETVAL));
	if (fork() == 0) {
		semop(id, &give, 1);
		semop(id, &give, 1);
		semop(id, &take, 1);
		_exit(0);
	}
	wait(NULL);
	printf("value: %d\n", semctl(id, 0, GETVAL));
	semctl(id, 0, IPC_RMID);
	return 0;
}
