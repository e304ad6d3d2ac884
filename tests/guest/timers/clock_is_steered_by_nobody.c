/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What adjtimex tells of the clock is fixed.
 *
 *: long
 *: row clock
 *: pinned
 *: out state 5 status 64 maxerror 16000000 esterror 16000000 freq 0 tick 10000 tai 0
 *: out time 1700000000.000000
 *: out time 1700003600.250000
 */
#include <sys/timex.h>

#include "say.h"

int main(void)
{
	struct timex tx = {.modes = 0};
	const int state = adjtimex(&tx);

	printf("state %d status %d maxerror %ld esterror %ld freq %ld tick %ld tai %d\n", state,
		tx.status, tx.maxerror, tx.esterror, tx.freq, tx.tick, tx.tai);
	printf("time %ld.%06ld\n", (long)tx.time.tv_sec, (long)tx.time.tv_usec);
	if (state == TIME_ERROR && tx.time.tv_sec == 1700000000)
		pause_ms(3600250);
	adjtimex(&tx);
	printf("time %ld.%06ld\n", (long)tx.time.tv_sec, (long)tx.time.tv_usec);
	return 0;
}
