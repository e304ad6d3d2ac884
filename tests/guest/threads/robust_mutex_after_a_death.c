/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner of a robust mutex ends: whoever waits is woken with EOWNERDEAD, one at a time; what is
 * not made consistent is lost to all. The list that the kernel was given is the one it gives back.
 *: native
 *: long
 *: out waiter: 130, made consistent
 *: out next: 0
 *: out not made consistent: 130, then 131 131
 *: out killed process: 130
 *: out list kept: yes, size 24
 */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t *lock;
static int repairs, results[2];

static void renew(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(lock, &attr);
}

static void *owner(void *unused)
{
	pthread_mutex_lock(lock);
	usleep(50000);
	return unused;
}

static void *waiter(void *arg)
{
	int *result = arg;

	*result = pthread_mutex_lock(lock);
	if (*result == 130 && repairs)
		pthread_mutex_consistent(lock);
	if (*result != 131) {
		usleep(20000);
		pthread_mutex_unlock(lock);
	}
	return NULL;
}

static void play(void)
{
	pthread_t threads[3];

	renew();
	pthread_create(&threads[0], NULL, owner, NULL);
	for (int i = 0; i < 2; i++) {
		usleep(10000);
		pthread_create(&threads[i + 1], NULL, waiter, &results[i]);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

int main(void)
{
	void *head = NULL;
	size_t size = 0;
	pid_t child;

	lock = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	repairs = 1;
	play();
	printf("waiter: %d, made consistent\nnext: %d\n", results[0], results[1]);
	repairs = 0;
	play();
	printf("not made consistent: %d, then %d %d\n", results[0], results[1],
		pthread_mutex_lock(lock));
	renew();
	fflush(stdout);
	child = fork();
	if (child == 0) {
		pthread_mutex_lock(lock);
		kill(getpid(), SIGKILL);
	}
	usleep(10000);
	printf("killed process: %d\n", pthread_mutex_lock(lock));
	waitpid(child, NULL, 0);
	syscall(SYS_get_robust_list, 0, &head, &size);
	printf("list kept: %s, size %zu\n", head ? "yes" : "no", size);
	return 0;
}
