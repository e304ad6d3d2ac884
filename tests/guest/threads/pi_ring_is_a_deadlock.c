/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three threads each hold a PI lock and want the next one's: whoever closes the ring is told
 * EDEADLK, and the others go on when it lets go.
 *: native
 *: long
 *: out 0 waits, 1 waits, 2 is told 35
 *: out then 0 has it, 1 has it
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t locks[3];
static int names[3] = {0, 1, 2}, results[3] = {-1, -1, -1};

static int lock_op(uint32_t *word, int op)
{
	return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0) < 0 ? errno : 0;
}

static void *link_of_ring(void *arg)
{
	int i = *(int *)arg;

	lock_op(&locks[i], FUTEX_LOCK_PI);
	usleep((useconds_t)(20000 * (i + 1)));
	results[i] = lock_op(&locks[(i + 1) % 3], FUTEX_LOCK_PI);
	if (i == 2) {
		printf("0 %s, 1 %s, 2 is told %d\n", results[0] < 0 ? "waits" : "?",
			results[1] < 0 ? "waits" : "?", results[2]);
		lock_op(&locks[2], FUTEX_UNLOCK_PI);
		return NULL;
	}
	lock_op(&locks[(i + 1) % 3], FUTEX_UNLOCK_PI);
	lock_op(&locks[i], FUTEX_UNLOCK_PI);
	return NULL;
}

int main(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, link_of_ring, &names[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("then 0 %s, 1 %s\n", results[0] == 0 ? "has it" : "?",
		results[1] == 0 ? "has it" : "?");
	return 0;
}
