/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which clocks can be slept on, and what sleeps refuse.
 *
 *: long
 *: native
 */
#include <pthread.h>
#include <sys/syscall.h>

#include "say.h"

static void try(const char *name, clockid_t clock, int flags)
{
	struct timespec ms = spec(MS);

	say(name, syscall(SYS_clock_nanosleep, clock, flags, &ms, NULL));
}

int main(void)
{
	struct timespec bad = {0, 1000000000};
	clockid_t own;

	try("realtime", CLOCK_REALTIME, 0);
	try("monotonic", CLOCK_MONOTONIC, 0);
	try("boottime", CLOCK_BOOTTIME, 0);
	try("tai", CLOCK_TAI, 0);
	try("past", CLOCK_REALTIME, TIMER_ABSTIME);
	try("raw", CLOCK_MONOTONIC_RAW, 0);
	try("coarse", CLOCK_MONOTONIC_COARSE, 0);
	try("thread", CLOCK_THREAD_CPUTIME_ID, 0);
	pthread_getcpuclockid(pthread_self(), &own);
	try("own thread by its number", own, 0);
	try("none", 77, 0);
	say("too many nanoseconds", syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &bad, NULL));
	bad = (struct timespec){-1, 0};
	say("negative", nanosleep(&bad, NULL));
	say("absolute and negative",
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &bad, NULL));
	say("nowhere", syscall(SYS_nanosleep, 8, NULL));
	bad = (struct timespec){0, 0};
	say("no time", nanosleep(&bad, NULL));
	say("no process", clock_getcpuclockid(999999, &own) ? (errno = ESRCH, -1) : 0);
	return 0;
}
