/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FUTEX_WAKE_OP changes a word and compares what was there: each operation and comparison, and
 * whom it wakes.
 *: native
 *: long
 *: out set 7: 7, add -1: 6, or 9: 15, andn 2: 13, xor 5: 8, shifted 1<<6: 64
 *: out eq 1 0 ne 0 1 lt 1 0 le 1 0 gt 1 0 ge 1 0
 *: out both: 2, the first only: 1
 *: out no such operation: -1 38
 *: out no such comparison: -1 38, changed to 3
 *: out unmapped: -1 14, odd: -1 22
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t first, second, third;

static void *waiter(void *word)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, *(uint32_t *)word, NULL, NULL, 0);
	return NULL;
}

static long wake_op(uint32_t *on, uint32_t how)
{
	return syscall(SYS_futex, &first, FUTEX_WAKE_OP_PRIVATE, 1, 1L, on, how);
}

static uint32_t apply(uint32_t op, uint32_t arg)
{
	wake_op(&second, FUTEX_OP(op, arg, FUTEX_OP_CMP_EQ, 0));
	return second;
}

/* With somebody waiting at the second word: how many were woken there. */
static long compare(uint32_t op, uint32_t arg)
{
	pthread_t thread;
	long r;

	third = 5;
	pthread_create(&thread, NULL, waiter, &third);
	usleep(5000);
	r = wake_op(&third, FUTEX_OP(FUTEX_OP_SET, 6, op, arg));
	syscall(SYS_futex, &third, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	pthread_join(thread, NULL);
	return r;
}

static long both(uint32_t arg)
{
	pthread_t threads[2];
	long r;

	third = 5;
	pthread_create(&threads[0], NULL, waiter, &first);
	pthread_create(&threads[1], NULL, waiter, &third);
	usleep(5000);
	r = wake_op(&third, FUTEX_OP(FUTEX_OP_SET, 6, FUTEX_OP_CMP_EQ, arg));
	syscall(SYS_futex, &third, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return r;
}

int main(void)
{
	long r;

	printf("set 7: %u, ", apply(FUTEX_OP_SET, 7));
	printf("add -1: %u, ", apply(FUTEX_OP_ADD, 0xfff));
	printf("or 9: %u, ", apply(FUTEX_OP_OR, 9));
	printf("andn 2: %u, ", apply(FUTEX_OP_ANDN, 2));
	printf("xor 5: %u, ", apply(FUTEX_OP_XOR, 5));
	printf("shifted 1<<6: %u\n", apply(FUTEX_OP_SET | FUTEX_OP_OPARG_SHIFT, 6));
	printf("eq %ld %ld ", compare(FUTEX_OP_CMP_EQ, 5), compare(FUTEX_OP_CMP_EQ, 6));
	printf("ne %ld %ld ", compare(FUTEX_OP_CMP_NE, 5), compare(FUTEX_OP_CMP_NE, 6));
	printf("lt %ld %ld ", compare(FUTEX_OP_CMP_LT, 6), compare(FUTEX_OP_CMP_LT, 5));
	printf("le %ld %ld ", compare(FUTEX_OP_CMP_LE, 5), compare(FUTEX_OP_CMP_LE, 4));
	printf("gt %ld %ld ", compare(FUTEX_OP_CMP_GT, 4), compare(FUTEX_OP_CMP_GT, 5));
	printf("ge %ld %ld\n", compare(FUTEX_OP_CMP_GE, 5), compare(FUTEX_OP_CMP_GE, 6));
	r = both(5);
	printf("both: %ld, the first only: %ld\n", r, both(6));
	r = wake_op(&second, FUTEX_OP(7, 1, FUTEX_OP_CMP_EQ, 0));
	printf("no such operation: %ld %d\n", r, errno);
	r = wake_op(&second, FUTEX_OP(FUTEX_OP_SET, 3, 15, 0));
	printf("no such comparison: %ld %d, changed to %u\n", r, errno, second);
	r = wake_op((uint32_t *)16, FUTEX_OP(FUTEX_OP_SET, 3, FUTEX_OP_CMP_EQ, 0));
	printf("unmapped: %ld %d, ", r, errno);
	r = wake_op((uint32_t *)((char *)&second + 1), 0);
	printf("odd: %ld %d\n", r, errno);
	return 0;
}
