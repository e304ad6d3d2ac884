/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What timer_create and its family refuse.
 *
 *: long
 *: native
 */
#include <sys/syscall.h>

#include "say.h"

static long create(clockid_t clock, struct sigevent *event)
{
	int id = -1;

	return syscall(SYS_timer_create, clock, event, &id);
}

int main(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec its = ispec(MS, 0);
	int id;

	say("clock 77", create(77, NULL));
	say("clock raw", create(CLOCK_MONOTONIC_RAW, NULL));
	say("clock coarse", create(CLOCK_REALTIME_COARSE, NULL));
	event.sigev_signo = 0;
	say("signal 0", create(CLOCK_MONOTONIC, &event));
	event.sigev_signo = 65;
	say("signal 65", create(CLOCK_MONOTONIC, &event));
	event.sigev_signo = SIGUSR1;
	event.sigev_notify = 9;
	say("notify 9", create(CLOCK_MONOTONIC, &event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event._sigev_un._tid = 1;
	say("thread of another process", create(CLOCK_MONOTONIC, &event));
	say("event nowhere", create(CLOCK_MONOTONIC, (struct sigevent *)8));
	say("id nowhere", syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, 8));
	say("a good one", syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, &id));
	its.it_value.tv_nsec = 1000000000;
	say("too many nanoseconds", syscall(SYS_timer_settime, id, 0, &its, NULL));
	its.it_value.tv_nsec = -1;
	say("negative", syscall(SYS_timer_settime, id, 0, &its, NULL));
	its = ispec(MS, 0);
	its.it_interval.tv_sec = -1;
	say("negative interval", syscall(SYS_timer_settime, id, 0, &its, NULL));
	say("no setting", syscall(SYS_timer_settime, id, 0, NULL, NULL));
	say("setting nowhere", syscall(SYS_timer_settime, id, 0, 8, NULL));
	say("no such timer", syscall(SYS_timer_settime, 4711, 0, &its, NULL));
	say("no such timer", syscall(SYS_timer_gettime, 4711, &its));
	say("no such timer", syscall(SYS_timer_getoverrun, 4711));
	say("no such timer", syscall(SYS_timer_delete, 4711));
	say("gettime nowhere", syscall(SYS_timer_gettime, id, 8));
	say("delete", syscall(SYS_timer_delete, id));
	say("delete again", syscall(SYS_timer_delete, id));
	return 0;
}
