/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiters of a set: told of its removal, of a signal, let go by SETVAL, by SETALL and for zero.
 *
 *: long
 *: native
 */
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/wait.h>

#include "say.h"

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
}

static pid_t waiter(int id, const char *what, struct sembuf op)
{
	const int before = semctl(id, op.sem_num, op.sem_op ? GETNCNT : GETZCNT);

	fflush(stdout);
	const pid_t child = fork();
	if (child == 0) {
		say(what, semop(id, &op, 1));
		fflush(stdout);
		_exit(0);
	}
	while (semctl(id, op.sem_num, op.sem_op ? GETNCNT : GETZCNT) == before)
		pause_ms(1);
	return child;
}

int main(void)
{
	const struct sembuf take = {0, -1, 0}, second = {1, -2, 0}, zero = {0, 0, 0};
	const int id = semget(IPC_PRIVATE, 2, 0600);
	unsigned short all[2] = {0, 2};

	handle(SIGUSR1, on_signal, SA_RESTART);
	const pid_t child = waiter(id, "interrupted, SA_RESTART or not", take);
	kill(child, SIGUSR1);
	wait(NULL);
	waiter(id, "by SETVAL", take);
	say("set", semctl(id, 0, SETVAL, 1));
	wait(NULL);
	waiter(id, "by SETALL", second);
	say("set", semctl(id, 0, SETALL, all));
	wait(NULL);
	semctl(id, 0, SETVAL, 3);
	waiter(id, "for zero", zero);
	printf("for zero %d, for more %d\n", semctl(id, 0, GETZCNT), semctl(id, 0, GETNCNT));
	semctl(id, 0, SETVAL, 0);
	wait(NULL);
	waiter(id, "removed", take);
	semctl(id, 0, IPC_RMID);
	wait(NULL);
	return 0;
}
