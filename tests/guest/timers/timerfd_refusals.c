/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What timerfd refuses.
 *
 *: long
 *: native
 */
#include <sys/timerfd.h>

#include "say.h"

int main(void)
{
	const int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	struct itimerspec its = ispec(MS, 0);
	char small[4];
	uint64_t one = 1;

	char link[32], target[32] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, target, sizeof(target) - 1) > 0)
		puts(target);
	say("clock tai", timerfd_create(CLOCK_TAI, 0));
	say("clock of cpu time", timerfd_create(CLOCK_PROCESS_CPUTIME_ID, 0));
	say("flags", timerfd_create(CLOCK_MONOTONIC, 1));
	say("write", write(fd, &one, sizeof(one)));
	say("read too little", read(fd, small, sizeof(small)));
	say("read, not set", read(fd, &one, sizeof(one)));
	say("seek", lseek(fd, 0, SEEK_SET));
	its.it_value.tv_nsec = 1000000000;
	say("too many nanoseconds", timerfd_settime(fd, 0, &its, NULL));
	its = ispec(MS, 0);
	its.it_interval.tv_sec = -1;
	say("negative", timerfd_settime(fd, 0, &its, NULL));
	its = ispec(MS, 0);
	say("flags", timerfd_settime(fd, 64, &its, NULL));
	say("not a timer", timerfd_settime(0, 0, &its, NULL));
	say("not open", timerfd_settime(99, 0, &its, NULL));
	say("nowhere", timerfd_gettime(fd, (struct itimerspec *)8));
	say("set", timerfd_settime(fd, 0, &its, NULL));
	say("not open", timerfd_gettime(99, &its));
	return 0;
}
