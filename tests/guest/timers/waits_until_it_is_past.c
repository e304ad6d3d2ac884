/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wait whose deadline has to be strictly past, as Ruby's sleep has it: futex waits that time out
 * at once, with a wake in between that wakes nobody, beside a sleeper and alone.
 *
 *: native
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "say.h"

static void wait_past(const char *what, int64_t end)
{
	static int word, other;
	const struct timespec deadline = {
		.tv_sec = end / (1000 * MS), .tv_nsec = end % (1000 * MS)};

	while (now_ns(CLOCK_MONOTONIC) <= end) {
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
		syscall(SYS_futex, &other, FUTEX_WAIT_BITSET_PRIVATE, 0, &deadline, NULL,
			FUTEX_BITSET_MATCH_ANY);
	}
	puts(what);
}

static void *sleep_long(void *arg)
{
	usleep(200000);
	return arg;
}

int main(void)
{
	const int64_t start = now_ns(CLOCK_MONOTONIC);
	pthread_t sleeper;

	pthread_create(&sleeper, NULL, sleep_long, NULL);
	wait_past("past, beside a sleeper", start + 50 * MS);
	pthread_join(sleeper, NULL);
	wait_past("past, alone", start + 300 * MS);
	return 0;
}
