/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner of a PI futex ends without an unlock: the first in line has it and reads
 * FUTEX_OWNER_DIED in the word; after it the next is handed it as always. In a robust mutex that is
 * EOWNERDEAD.
 *: native
 *: out 0: 0 mine died waiters
 *: out 1: 0 mine waiters
 *: out robust: 130, made consistent: 0, then 0
 *: out robust across processes: 130
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static uint32_t word;
static int names[2] = {0, 1};
static pthread_mutex_t *lock;

static long futex(int op)
{
	return syscall(SYS_futex, &word, op | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0);
}

static void *owner(void *unused)
{
	futex(FUTEX_LOCK_PI);
	usleep(100000);
	return unused;
}

static void *heir(void *arg)
{
	long r = futex(FUTEX_LOCK_PI);
	uint32_t mine = (uint32_t)syscall(SYS_gettid);

	printf("%d: %ld %s%s%s\n", *(int *)arg, r, (word & FUTEX_TID_MASK) == mine ? "mine" : "?",
		word & FUTEX_OWNER_DIED ? " died" : "", word & FUTEX_WAITERS ? " waiters" : "");
	futex(FUTEX_UNLOCK_PI);
	return NULL;
}

static void *dies_locked(void *unused)
{
	pthread_mutex_lock(lock);
	usleep(50000);
	return unused;
}

int main(void)
{
	pthread_mutexattr_t attr;
	pthread_t threads[3];
	pid_t child;
	int r, s;

	pthread_create(&threads[0], NULL, owner, NULL);
	for (int i = 0; i < 2; i++) {
		usleep(20000);
		pthread_create(&threads[i + 1], NULL, heir, &names[i]);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	lock = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	if (pthread_mutex_init(lock, &attr))
		return 1;
	pthread_create(&threads[0], NULL, dies_locked, NULL);
	usleep(20000);
	r = pthread_mutex_lock(lock);
	s = pthread_mutex_consistent(lock);
	pthread_mutex_unlock(lock);
	printf("robust: %d, made consistent: %d, then %d\n", r, s, pthread_mutex_lock(lock));
	pthread_mutex_unlock(lock);
	fflush(stdout);
	pthread_join(threads[0], NULL);
	child = fork();
	if (child == 0) {
		dies_locked(NULL);
		_exit(0);
	}
	usleep(20000);
	printf("robust across processes: %d\n", pthread_mutex_lock(lock));
	waitpid(child, NULL, 0);
	return 0;
}
