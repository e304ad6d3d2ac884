/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timerfd: absolute times that are past, with and without a period, on each clock, and setting
 *ticks.
 *
 *: native
 *: rootless
 */
#include <sys/ioctl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>

#include "say.h"

#define TFD_IOC_SET_TICKS \
	_IOW(0x54, 0, uint64_t) /* linux/timerfd.h quarrels with sys/timerfd.h \
				 */

static uint64_t ticks(int fd)
{
	uint64_t n = 0;

	return read(fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

static void past(const char *name, clockid_t clock)
{
	const int fd = timerfd_create(clock, TFD_NONBLOCK);
	struct itimerspec its = ispec(1, 0);
	int64_t n;

	timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &its, NULL);
	pause_ms(1);
	printf("%s: past %lu", name, (unsigned long)ticks(fd));
	its = ispec(1, 1000 * MS);
	timerfd_settime(fd, TFD_TIMER_ABSTIME, &its, NULL);
	pause_ms(1);
	n = (int64_t)ticks(fd) - now_ns(clock) / (1000 * MS);
	printf(", every second since %s", n >= 0 && n <= 1 ? "all" : "some");
	timerfd_gettime(fd, &its);
	printf(", left %s", its.it_value.tv_nsec > 0 ? "some" : "none");
	its = ispec(now_ns(clock) + 20 * MS, 0);
	timerfd_settime(fd, TFD_TIMER_ABSTIME, &its, NULL);
	struct pollfd p = {fd, POLLIN, 0};
	printf(", in the future %d", poll(&p, 1, 10000));
	printf(" %s\n", now_ns(clock) >= its.it_value.tv_sec * 1000000000LL + its.it_value.tv_nsec
				? "in time"
				: "too early");
	close(fd);
}

int main(void)
{
	const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	uint64_t n = 5;

	past("realtime", CLOCK_REALTIME);
	past("monotonic", CLOCK_MONOTONIC);
	past("boottime", CLOCK_BOOTTIME);
	say("set ticks", ioctl(fd, TFD_IOC_SET_TICKS, &n));
	printf("ticks %lu\n", (unsigned long)ticks(fd));
	say("again", read(fd, &n, sizeof(n)));
	n = 0;
	say("set no ticks", ioctl(fd, TFD_IOC_SET_TICKS, &n));
	say("of no timer", ioctl(0, TFD_IOC_SET_TICKS, &n) == -1 ? -1 : 0);
	return 0;
}
