/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A day's sleep beside a blocked timer of a microsecond: the clock moves for the sleep alone.
 *
 *: row timers
 *: pinned
 *: out pending 1 after 86400 s
 */
#include <sys/time.h>

#include "say.h"

int main(void)
{
	struct itimerval every = {{0, 1}, {0, 1}};
	const int64_t start = now_ns(CLOCK_MONOTONIC);

	block(SIGALRM, SIG_BLOCK);
	setitimer(ITIMER_REAL, &every, NULL);
	/* Natively it is not waited for. */
	if (start == 1000 * 1000000000LL)
		pause_ms(86400000);
	printf("pending %d after %lld s\n", is_pending(SIGALRM),
		(long long)((now_ns(CLOCK_MONOTONIC) - start) / 1000000000));
	return 0;
}
