/* SPDX-License-Identifier: Apache-2.0 */
/*
 * futex_waitv waits for several words: which one woke it, what it refuses, and its deadline.
 *: native
 *: long
 *: out woken at 2
 *: out woken twice by one call: 2, last at 1
 *: out woken at both: 1 1, last at 2
 *: out changed: -1 11
 *: out timed out: -1 110 110
 *: out flags -1 22, size -1 22, none -1 22, many -1 22, clock -1 22, odd -1 22, unmapped -1 14
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint32_t words[3];
static struct futex_waitv of[FUTEX_WAITV_MAX + 1];
static int answer;

static void set_up(void)
{
	memset(of, 0, sizeof(of));
	for (int i = 0; i < 3; i++) {
		of[i].uaddr = (uintptr_t)&words[i];
		of[i].flags = FUTEX_32 | FUTEX_PRIVATE_FLAG;
	}
}

static int waitv(unsigned count, unsigned flags, const struct timespec *limit, int clock_id)
{
	int r = (int)syscall(SYS_futex_waitv, of, count, flags, limit, clock_id);

	return r < 0 ? -errno : r;
}

static void *waiter(void *unused)
{
	answer = waitv(3, 0, NULL, CLOCK_MONOTONIC);
	return unused;
}

static long wake(int i, int count)
{
	return syscall(SYS_futex, &words[i], FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static void refused(const char *what, int r, const char *end)
{
	printf("%s -1 %d%s", what, -r, end);
}

int main(void)
{
	struct timespec now, real;
	pthread_t thread;
	long first, then;

	set_up();
	pthread_create(&thread, NULL, waiter, NULL);
	usleep(20000);
	wake(2, 1);
	pthread_join(thread, NULL);
	printf("woken at %d\n", answer);
	of[1].uaddr = of[0].uaddr;
	pthread_create(&thread, NULL, waiter, NULL);
	usleep(20000);
	first = wake(0, 5);
	pthread_join(thread, NULL);
	printf("woken twice by one call: %ld, last at %d\n", first, answer);
	set_up();
	/* One call wakes at two words, so that natively too the waiter cannot run in between. */
	pthread_create(&thread, NULL, waiter, NULL);
	usleep(20000);
	then = syscall(SYS_futex, &words[0], FUTEX_WAKE_OP_PRIVATE, 1, 1L, &words[2],
		FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0));
	pthread_join(thread, NULL);
	printf("woken at both: %ld %ld, last at %d\n", then / 2, then - then / 2, answer);
	words[1] = 1;
	printf("changed: -1 %d\n", -waitv(3, 0, NULL, CLOCK_MONOTONIC));
	words[1] = 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	clock_gettime(CLOCK_REALTIME, &real);
	now.tv_sec++;
	real.tv_sec++;
	printf("timed out: -1 %d", -waitv(3, 0, &now, CLOCK_MONOTONIC));
	printf(" %d\n", -waitv(3, 0, &real, CLOCK_REALTIME));
	refused("flags", waitv(3, 1, NULL, CLOCK_MONOTONIC), ", ");
	of[1].flags = FUTEX_PRIVATE_FLAG;
	refused("size", waitv(3, 0, NULL, CLOCK_MONOTONIC), ", ");
	set_up();
	refused("none", waitv(0, 0, NULL, CLOCK_MONOTONIC), ", ");
	refused("many", waitv(FUTEX_WAITV_MAX + 1, 0, NULL, CLOCK_MONOTONIC), ", ");
	refused("clock", waitv(3, 0, &now, CLOCK_BOOTTIME), ", ");
	of[1].uaddr++;
	refused("odd", waitv(3, 0, NULL, CLOCK_MONOTONIC), ", ");
	of[1].uaddr = 16;
	refused("unmapped", waitv(3, 0, NULL, CLOCK_MONOTONIC), "\n");
	return 0;
}
