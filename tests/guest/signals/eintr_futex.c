/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signal while a task waits for a futex, a semaphore or a lock of the C library.
 *: long
 *: native
 */
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "eintr.h"

static uint32_t word;
static sem_t semaphore;

static void post(void)
{
	sem_post(&semaphore);
}

/* The handler runs outside the wait: only what the word holds can end the next one. */
static void change(void)
{
	word = 1;
}

static long wait_for(int op, const struct timespec *limit)
{
	word = 0;
	return syscall(SYS_futex, &word, op, 0, limit, NULL, FUTEX_BITSET_MATCH_ANY);
}

static struct timespec later(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	ts.tv_sec += 5;
	return ts;
}

int main(void)
{
	const struct timespec five = {5, 0};
	struct timespec at = later(CLOCK_MONOTONIC), real = later(CLOCK_REALTIME);

	sem_init(&semaphore, 0, 0);
	EINTR_TRY("FUTEX_WAIT", change, wait_for(FUTEX_WAIT, NULL));
	EINTR_TRY("FUTEX_WAIT with a limit", change, wait_for(FUTEX_WAIT, &five));
	EINTR_TRY("FUTEX_WAIT_BITSET", change, wait_for(FUTEX_WAIT_BITSET, NULL));
	EINTR_TRY("FUTEX_WAIT_BITSET until", change, wait_for(FUTEX_WAIT_BITSET, &at));
	EINTR_TRY("sem_wait", post, sem_wait(&semaphore));
	EINTR_TRY("sem_timedwait", post, sem_timedwait(&semaphore, &real));
	return 0;
}
