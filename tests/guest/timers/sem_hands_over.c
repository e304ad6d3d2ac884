/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who gives and takes again does not take from those who waited, and they go first come first
 *served.
 *
 *: native
 */
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/wait.h>

#include "say.h"

int main(void)
{
	struct sembuf take = {0, -1, 0}, give = {0, 1, 0};
	const int id = semget(IPC_PRIVATE, 1, 0600);
	int *order = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (int i = 1; i <= 3; i++) {
		if (fork() == 0) {
			semop(id, &take, 1);
			order[++order[0]] = i;
			_exit(0);
		}
		while (semctl(id, 0, GETNCNT) < i)
			pause_ms(1);
	}
	printf("waiting: %d\n", semctl(id, 0, GETNCNT));
	for (int i = 1; i <= 3; i++) {
		struct timespec none = {0, 0};

		semop(id, &give, 1);
		say("taken back", semtimedop(id, &take, 1, &none));
		wait(NULL);
		printf("went: %d\n", order[i]);
	}
	printf("waiting: %d, value %d\n", semctl(id, 0, GETNCNT), semctl(id, 0, GETVAL));
	semctl(id, 0, IPC_RMID);
	return 0;
}
