/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FUTEX_CMP_REQUEUE wakes some and moves others behind those who wait at the second word; moved
 * onto the same word they are counted and stay.
 *: native
 *: long
 *: out changed: -1 11
 *: out negative: -1 22
 *: out onto itself: 2
 *: out one woken, two moved: 3, first 0
 *: out at the first word: 0
 *: out then in order: 4 1 2
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t from, to;
static int order[4], count, names[4] = {0, 1, 2, 4};

static void *waiter(void *arg)
{
	int name = *(int *)arg;

	syscall(SYS_futex, name == 4 ? &to : &from, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	order[__atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST)] = name;
	return NULL;
}

static long requeue(int wakes, long moves, uint32_t *target, uint32_t expected)
{
	return syscall(SYS_futex, &from, FUTEX_CMP_REQUEUE_PRIVATE, wakes, moves, target, expected);
}

static long wake(uint32_t *word)
{
	long r = syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);

	usleep(20000);
	return r;
}

int main(void)
{
	pthread_t threads[4];
	long r;

	for (int i = 3; i >= 0; i--) {
		/* The one at the second word first, then the others in order. */
		pthread_create(&threads[i], NULL, waiter, &names[i == 3 ? 3 : 2 - i]);
		usleep(20000);
	}
	r = requeue(1, 9, &to, 5);
	printf("changed: %ld %d\n", r, errno);
	r = requeue(1, -1, &to, 0);
	printf("negative: %ld %d\n", r, errno);
	printf("onto itself: %ld\n", requeue(0, 2, &from, 0));
	r = requeue(1, 9, &to, 0);
	usleep(20000);
	printf("one woken, two moved: %ld, first %d\n", r, order[0]);
	printf("at the first word: %ld\n", wake(&from));
	for (int i = 0; i < 3; i++)
		wake(&to);
	printf("then in order: %d %d %d\n", order[1], order[2], order[3]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
