/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The times that System V objects carry, in their structs and in /proc/sysvipc, are logical.
 *
 *: pinned
 *: out msg 1700000001 0 1700000000
 *: out msg 1700000001 1700000002 1700000003
 *: out sem 1700000004 1700000005
 *: out shm 1700000006 0 1700000006
 *: out shm 1700000006 1700000007 1700000006
 *: out shm 1700000007 1700000009 1700000006
 *: out id 0: 1700000004 1700000005
 *: out id 0: 1700000001 1700000002 1700000003
 *: out id 0: 1700000007 1700000009 1700000006
 */
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/wait.h>

#include "say.h"

struct message {
	long type;
	char text[8];
};

static void show_msg(int id)
{
	struct msqid_ds ds;

	msgctl(id, IPC_STAT, &ds);
	printf("msg %ld %ld %ld\n", (long)ds.msg_stime, (long)ds.msg_rtime, (long)ds.msg_ctime);
}

static void show_shm(int id)
{
	struct shmid_ds ds;

	shmctl(id, IPC_STAT, &ds);
	printf("shm %ld %ld %ld\n", (long)ds.shm_atime, (long)ds.shm_dtime, (long)ds.shm_ctime);
}

/* The last columns, without what shm has of memory. */
static void show_table(const char *path, int from, int to)
{
	char line[512];
	FILE *f = fopen(path, "r");

	if (!f || !fgets(line, sizeof(line), f))
		return;
	while (fgets(line, sizeof(line), f)) {
		int column = 0;

		for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"), column++) {
			if (column == 1)
				printf("id %s:", word);
			if (column >= from && column < to)
				printf(" %s", word);
		}
		putchar('\n');
	}
	fclose(f);
}

int main(void)
{
	struct message m = {1, "x"};
	struct msqid_ds ds;
	struct sembuf give = {0, 1, 0};

	/* Natively it is not waited for. */
	if (time(NULL) != 1700000000)
		return 0;
	const int msg = msgget(IPC_PRIVATE, 0600);
	sleep(1);
	msgsnd(msg, &m, 1, 0);
	show_msg(msg);
	sleep(1);
	msgrcv(msg, &m, 1, 0, 0);
	sleep(1);
	msgctl(msg, IPC_STAT, &ds);
	msgctl(msg, IPC_SET, &ds);
	show_msg(msg);
	const int sem = semget(IPC_PRIVATE, 1, 0600);
	struct semid_ds set;
	sleep(1);
	semop(sem, &give, 1);
	sleep(1);
	semctl(sem, 0, SETVAL, 4);
	semctl(sem, 0, IPC_STAT, &set);
	printf("sem %ld %ld\n", (long)set.sem_otime, (long)set.sem_ctime);
	sleep(1);
	const int shm = shmget(IPC_PRIVATE, 100, 0600);
	void *memory = shmat(shm, NULL, 0);
	show_shm(shm);
	sleep(1);
	shmdt(memory);
	show_shm(shm);
	memory = shmat(shm, NULL, SHM_RDONLY);
	sleep(1);
	if (fork() == 0) {
		sleep(1);
		_exit(0);
	}
	wait(NULL);
	show_shm(shm);
	show_table("/proc/sysvipc/sem", 8, 10);
	show_table("/proc/sysvipc/msg", 11, 14);
	show_table("/proc/sysvipc/shm", 11, 14);
	return 0;
}
