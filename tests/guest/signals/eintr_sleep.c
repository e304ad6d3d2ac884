/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signal while a task sleeps: what it answers, and what is left of the time.
 *: native
 *: long
 */
#include <time.h>
#include <unistd.h>

#include "eintr.h"

static struct timespec left;

static void tell_left(void)
{
	/* Natively some of it went by. */
	printf("left: %s\n", left.tv_sec == 4	 ? "four seconds and a bit"
			     : left.tv_sec == -1 ? "untouched"
						 : "something else");
	left = (struct timespec){-1, 0};
}

static long as_result(int error)
{
	errno = error;
	return error ? -1 : 0;
}

static long until(clockid_t clock, int seconds)
{
	struct timespec at;

	clock_gettime(clock, &at);
	at.tv_sec += seconds;
	return as_result(clock_nanosleep(clock, TIMER_ABSTIME, &at, &left));
}

int main(void)
{
	const struct timespec five = {5, 0};

	left = (struct timespec){-1, 0};
	EINTR_TRY("nanosleep", NULL, nanosleep(&five, &left));
	tell_left();
	EINTR_TRY("nanosleep without a rest", NULL, nanosleep(&five, NULL));
	EINTR_TRY("clock_nanosleep", NULL,
		as_result(clock_nanosleep(CLOCK_MONOTONIC, 0, &five, &left)));
	tell_left();
	EINTR_TRY("clock_nanosleep of the real clock", NULL,
		as_result(clock_nanosleep(CLOCK_REALTIME, 0, &five, &left)));
	tell_left();
	EINTR_TRY("clock_nanosleep until", NULL, until(CLOCK_MONOTONIC, 5));
	tell_left();
	EINTR_TRY("clock_nanosleep until, real", NULL, until(CLOCK_REALTIME, 5));
	EINTR_TRY("pause", NULL, pause());
	EINTR_TRY("usleep", NULL, usleep(900000));
	eintr_arm(1, NULL);
	printf("sleep leaves %u\n", sleep(5));
	eintr_disarm();
	return 0;
}
