/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process is killed whose threads hold a robust mutex each; another process waits for all of
 * them. Its threads go on in the same order in every run, which is that in which they came.
 *: out 0 1 2 3 4 5 6 7: 130 each
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOCKS = 8 };

static struct shared {
	pthread_mutex_t locks[LOCKS];
	int held;
} * shared;
static int order[LOCKS], count, all_dead = 1;

static void *owner(void *lock)
{
	pthread_mutex_lock(lock);
	__atomic_add_fetch(&shared->held, 1, __ATOMIC_SEQ_CST);
	pause();
	return NULL;
}

static void *waiter(void *lock)
{
	if (pthread_mutex_lock(lock) != 130)
		all_dead = 0;
	order[__atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST)] =
		(int)((pthread_mutex_t *)lock - shared->locks);
	return NULL;
}

int main(void)
{
	pthread_mutexattr_t attr;
	pthread_t threads[LOCKS];
	pid_t child;

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&shared->locks[i], &attr);
	child = fork();
	if (child == 0) {
		for (int i = 1; i < LOCKS; i++)
			pthread_create(&threads[i], NULL, owner, &shared->locks[i]);
		owner(&shared->locks[0]);
	}
	while (__atomic_load_n(&shared->held, __ATOMIC_SEQ_CST) < LOCKS)
		usleep(1000);
	for (int i = 0; i < LOCKS; i++) {
		pthread_create(&threads[i], NULL, waiter, &shared->locks[i]);
		usleep(1000);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	for (int i = 0; i < LOCKS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < LOCKS; i++)
		printf("%s%d", i ? " " : "", order[i]);
	printf(": %s\n", all_dead ? "130 each" : "?");
	return 0;
}
