/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FUTEX_REQUEUE moves waiters whatever the first word holds, and as many as it is told to.
 *: native
 *: out one woken, one moved: 2
 *: out still at the first word: 1
 *: out at the second: 1
 *: out nobody is left: 0
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t from, to;

static void *waiter(void *unused)
{
	syscall(SYS_futex, &from, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return unused;
}

static long wake(uint32_t *word)
{
	return syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0);
}

int main(void)
{
	pthread_t threads[3];
	long r;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, waiter, NULL);
	usleep(100000);
	__atomic_store_n(&from, 7, __ATOMIC_SEQ_CST);
	r = syscall(SYS_futex, &from, FUTEX_REQUEUE_PRIVATE, 1, 1l, &to, 0);
	printf("one woken, one moved: %ld\n", r);
	printf("still at the first word: %ld\n", wake(&from));
	printf("at the second: %ld\n", wake(&to));
	printf("nobody is left: %ld\n", wake(&to));
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
