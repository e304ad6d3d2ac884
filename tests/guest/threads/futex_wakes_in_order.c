/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FUTEX_WAKE wakes in the order in which they came, as many as asked for and at least one; a bitset
 * chooses among them.
 *: native
 *: out wake 2 of 4: 2, 0 1
 *: out wake 0 of 2: 1, 2
 *: out bits: 1, 5 then 1, 4
 *: out no bits: -1 22
 *: out nobody: 0
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t word;
static int woken[8], count, bits[8] = {-1, -1, -1, -1, 1, 2};

static long futex(int op, uint32_t value, uint32_t bitset)
{
	return syscall(SYS_futex, &word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, bitset);
}

static void *waiter(void *arg)
{
	int i = (int)((int *)arg - bits);

	futex(FUTEX_WAIT_BITSET, 0, (uint32_t)bits[i]);
	woken[__atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST)] = i;
	return NULL;
}

static void start(pthread_t *thread, int i)
{
	pthread_create(thread, NULL, waiter, &bits[i]);
	usleep(10000);
}

int main(void)
{
	pthread_t threads[6];
	long r;

	for (int i = 0; i < 4; i++)
		start(&threads[i], i);
	r = futex(FUTEX_WAKE, 2, 0);
	usleep(20000);
	printf("wake 2 of 4: %ld, %d %d\n", r, woken[0] < woken[1] ? woken[0] : woken[1],
		woken[0] < woken[1] ? woken[1] : woken[0]);
	r = futex(FUTEX_WAKE, 0, 0);
	usleep(20000);
	printf("wake 0 of 2: %ld, %d\n", r, woken[2]);
	futex(FUTEX_WAKE, 9, 0);
	usleep(20000);
	start(&threads[4], 4);
	start(&threads[5], 5);
	r = futex(FUTEX_WAKE_BITSET, 9, 2);
	usleep(20000);
	printf("bits: %ld, %d", r, woken[4]);
	r = futex(FUTEX_WAKE_BITSET, 9, 0xffff);
	usleep(20000);
	printf(" then %ld, %d\n", r, woken[5]);
	r = futex(FUTEX_WAKE_BITSET, 9, 0);
	printf("no bits: %ld %d\n", r, errno);
	printf("nobody: %ld\n", futex(FUTEX_WAKE, 1, 0));
	for (int i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
