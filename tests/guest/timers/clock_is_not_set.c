/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nobody but root of the host sets or steers a clock.
 *
 *: long
 *: native
 */
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>

#include "say.h"

int main(void)
{
	struct timespec now;
	struct timeval tv = {1, 0};
	struct timex tx = {.modes = ADJ_FREQUENCY, .freq = 1};

	/* Natively the test may be root, who could. */
	if (getuid() == 0 && setresuid(65534, 65534, 65534) != 0)
		return 1;
	clock_gettime(CLOCK_REALTIME, &now);
	say("clock_settime", clock_settime(CLOCK_REALTIME, &now));
	say("settimeofday", settimeofday(&tv, NULL));
	say("steer", adjtimex(&tx));
	tx.modes = ADJ_OFFSET_SINGLESHOT;
	say("slew", adjtimex(&tx));
	tx.modes = ADJ_OFFSET_SS_READ;
	printf("what is left to slew: %s %ld\n", adjtimex(&tx) >= 0 ? "told" : "refused",
		tx.offset);
	tx.modes = 0;
	printf("how it is steered: %s\n", adjtimex(&tx) >= 0 ? "told" : "refused");
	tx.modes = 0;
	printf("clock_adjtime: %s\n", clock_adjtime(CLOCK_REALTIME, &tx) >= 0 ? "told" : "refused");
	say("monotonic", clock_adjtime(CLOCK_MONOTONIC, &tx));
	say("none", clock_adjtime(77, &tx));
	tx.modes = 0x8000;
	say("nonsense", adjtimex(&tx));
	say("nowhere", syscall(SYS_adjtimex, 8));
	return 0;
}
