/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGEV_NONE: who asks again and again how much is left gets to the end, and to the next period.
 *
 *: long
 *: native
 */
#include "say.h"

int main(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_NONE};
	struct itimerspec its = ispec(20 * MS, 0);
	timer_t timer;

	say("create", timer_create(CLOCK_MONOTONIC, &event, &timer));
	timer_settime(timer, 0, &its, NULL);
	do
		timer_gettime(timer, &its);
	while (its.it_value.tv_nsec);
	puts("over");
	its = ispec(5 * MS, 20 * MS);
	timer_settime(timer, 0, &its, NULL);
	for (const int64_t start = now_ns(CLOCK_MONOTONIC);
		now_ns(CLOCK_MONOTONIC) - start < 60 * MS;)
		timer_gettime(timer, &its);
	printf("some left: %s\n", its.it_value.tv_nsec > 0 ? "yes" : "no");
	printf("interval %ld, overruns %d\n", its.it_interval.tv_nsec, timer_getoverrun(timer));
	return 0;
}
