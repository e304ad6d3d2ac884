/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared memory: seen by both, counted by attachments, gone with the last one after its removal.
 *
 *: long
 *: native
 *: rootless
 */
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/wait.h>

#include "say.h"

int main(void)
{
	const key_t key = 0x53616e64;
	const int id = shmget(key, 10000, IPC_CREAT | IPC_EXCL | 0600);
	struct shmid_ds ds;

	say("made", id < 0 ? -1 : 0);
	say("again, exclusively", shmget(key, 10000, IPC_CREAT | IPC_EXCL | 0600));
	printf("found: %s\n", shmget(key, 0, 0) == id ? "yes" : "no");
	say("larger than it is", shmget(key, 100000, 0));
	int *memory = shmat(id, NULL, 0);
	if (fork() == 0) {
		int *again = shmat(id, NULL, 0);

		again[1] = memory[0] + 1;
		shmctl(id, IPC_STAT, &ds);
		printf("attached: %lu\n", (unsigned long)ds.shm_nattch);
		shmdt(again);
		memory[2] = 7;
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	printf("child wrote %d %d\n", memory[1], memory[2]);
	shmctl(id, IPC_STAT, &ds);
	printf("attached: %lu, size %zu, creator %s\n", (unsigned long)ds.shm_nattch, ds.shm_segsz,
		ds.shm_cpid == getpid() ? "us" : "another");
	say("removed", shmctl(id, IPC_RMID, NULL));
	shmctl(id, IPC_STAT, &ds);
	printf("still there, to be destroyed: %s\n", ds.shm_perm.mode & SHM_DEST ? "yes" : "no");
	memory[0] = 5;
	say("detached", shmdt(memory));
	say("detached again", shmdt(memory));
	say("gone", shmctl(id, IPC_STAT, &ds));
	say("nowhere", shmat(id, NULL, 0) == (void *)-1 ? -1 : 0);
	return 0;
}
