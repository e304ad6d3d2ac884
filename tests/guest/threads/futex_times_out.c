/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The deadlines of futex waits: relative, absolute on both clocks, long past; what is no time; a
 * handler ends a wait with one and restarts a wait without.
 *: native
 *: long
 *: out relative 110, absolute 110, real 110, past 110
 *: out negative 22, too many ns 22, unmapped 14, before the value: 22
 *: out realtime on plain wait: 38
 *: out value changed: 11, no bits: 22
 *: out handler with a deadline: 4, restarted without: 0
 *: out at least: yes yes yes
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint32_t word;
static int result[2];

static int wait_for(int op, uint32_t value, const void *limit, uint32_t bits)
{
	return syscall(SYS_futex, &word, op | FUTEX_PRIVATE_FLAG, value, limit, NULL, bits) < 0
		       ? errno
		       : 0;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static struct timespec in_a_moment(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	ts.tv_nsec += 10000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	return ts;
}

static void on_signal(int sig)
{
	(void)sig;
}

static void *waiter(void *limit)
{
	result[limit ? 0 : 1] = wait_for(FUTEX_WAIT, 0, limit, 0);
	return NULL;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct timespec moment = {0, 10000000}, past = {0, 1}, bad = {-1, 0},
			many = {0, 1000000000};
	struct timespec hour = {3600, 0}, then;
	double times[4];
	pthread_t threads[2];

	times[0] = now();
	printf("relative %d, ", wait_for(FUTEX_WAIT, 0, &moment, 0));
	times[1] = now();
	then = in_a_moment(CLOCK_MONOTONIC);
	printf("absolute %d, ", wait_for(FUTEX_WAIT_BITSET, 0, &then, 1));
	times[2] = now();
	then = in_a_moment(CLOCK_REALTIME);
	printf("real %d, ", wait_for(FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &then, 1));
	times[3] = now();
	printf("past %d\n", wait_for(FUTEX_WAIT_BITSET, 0, &past, 1));
	printf("negative %d, ", wait_for(FUTEX_WAIT, 0, &bad, 0));
	printf("too many ns %d, ", wait_for(FUTEX_WAIT, 0, &many, 0));
	printf("unmapped %d, ", wait_for(FUTEX_WAIT, 0, (void *)16, 0));
	printf("before the value: %d\n", wait_for(FUTEX_WAIT, 7, &bad, 0));
	printf("realtime on plain wait: %d\n",
		wait_for(FUTEX_WAIT | FUTEX_CLOCK_REALTIME, 0, &moment, 0));
	printf("value changed: %d, ", wait_for(FUTEX_WAIT, 7, NULL, 0));
	printf("no bits: %d\n", wait_for(FUTEX_WAIT_BITSET, 0, NULL, 0));
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&threads[0], NULL, waiter, &hour);
	pthread_create(&threads[1], NULL, waiter, NULL);
	usleep(20000);
	for (int i = 0; i < 2; i++)
		pthread_kill(threads[i], SIGUSR1);
	usleep(20000);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 2, NULL, NULL, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("handler with a deadline: %d, restarted without: %d\n", result[0], result[1]);
	printf("at least:");
	for (int i = 0; i < 3; i++)
		printf(" %s", times[i + 1] - times[i] > 0.0099 ? "yes" : "no");
	puts("");
	return 0;
}
