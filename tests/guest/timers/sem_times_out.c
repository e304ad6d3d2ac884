/* SPDX-License-Identifier: Apache-2.0 */
/*
 * semtimedop: time-outs, IPC_NOWAIT, waiting for zero, several operations at once or none.
 *
 *: long
 *: native
 *: rootless
 */
#include <sys/ipc.h>
#include <sys/sem.h>

#include "say.h"

static int id;

static int64_t took(struct sembuf *ops, size_t count, int64_t limit_ns, const char *what)
{
	struct timespec limit = spec(limit_ns);
	const int64_t start = now_ns(CLOCK_MONOTONIC);

	say(what, semtimedop(id, ops, count, &limit));
	return now_ns(CLOCK_MONOTONIC) - start;
}

int main(void)
{
	struct sembuf take = {0, -1, 0}, give = {0, 1, 0}, zero = {0, 0, 0};
	struct sembuf both[2] = {{0, -1, 0}, {1, -1, 0}};

	id = semget(IPC_PRIVATE, 2, IPC_CREAT | 0600);
	printf("made: %s\n", id >= 0 ? "yes" : strerror(errno));
	printf("in time: %s\n", took(&take, 1, 30 * MS, "take") >= 30 * MS ? "yes" : "no");
	say("give", semop(id, &give, 1));
	printf("at once: %s\n",
		took(&take, 1, 3600LL * 1000 * MS, "take") < 1000 * MS ? "yes" : "no");
	say("zero", semop(id, &zero, 1));
	say("give", semop(id, &give, 1));
	printf("in time: %s\n", took(&zero, 1, 20 * MS, "zero") >= 20 * MS ? "yes" : "no");
	printf("in time: %s\n", took(both, 2, 10 * MS, "both") >= 10 * MS ? "yes" : "no");
	say("neither was taken", semctl(id, 0, GETVAL));
	both[1].sem_flg = IPC_NOWAIT;
	printf("at once: %s\n",
		took(both, 2, 3600LL * 1000 * MS, "nowait") < 1000 * MS ? "yes" : "no");
	take.sem_flg = IPC_NOWAIT;
	say("take", semop(id, &take, 1));
	say("take nowait", semop(id, &take, 1));
	struct timespec none = {0, 0}, bad = {0, 1000000000};
	take.sem_flg = 0;
	say("no time", semtimedop(id, &take, 1, &none));
	say("bad time", semtimedop(id, &take, 1, &bad));
	take.sem_num = 2;
	say("beyond the set", semop(id, &take, 1));
	say("no operation", semop(id, &take, 0));
	say("too many", semop(id, &take, 501));
	take = (struct sembuf){0, 32767, 0};
	say("most", semop(id, &take, 1));
	say("one more", semop(id, &give, 1));
	say("removed", semctl(id, 0, IPC_RMID));
	say("gone", semop(id, &give, 1));
	return 0;
}
