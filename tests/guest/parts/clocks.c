/* SPDX-License-Identifier: Apache-2.0 */
/* Prints every clock by every way to ask for it, sleeps a second and a half, and prints them again.
 */
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const struct {
	const char *name;
	clockid_t id;
} clocks[] = {{"realtime", CLOCK_REALTIME}, {"monotonic", CLOCK_MONOTONIC},
	{"raw", CLOCK_MONOTONIC_RAW}, {"realtime_coarse", CLOCK_REALTIME_COARSE},
	{"monotonic_coarse", CLOCK_MONOTONIC_COARSE}, {"boottime", CLOCK_BOOTTIME},
	{"tai", CLOCK_TAI}};

static void print_all(void)
{
	struct timespec libc, raw, resolution;
	struct timeval tv, raw_tv;

	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		clock_gettime(clocks[i].id, &libc);
		syscall(SYS_clock_gettime, clocks[i].id, &raw);
		clock_getres(clocks[i].id, &resolution);
		printf("%s %ld.%09ld %s, resolution %ld\n", clocks[i].name, libc.tv_sec,
			libc.tv_nsec,
			libc.tv_sec == raw.tv_sec && libc.tv_nsec == raw.tv_nsec ? "both"
										 : "differ",
			resolution.tv_nsec);
	}
	gettimeofday(&tv, NULL);
	syscall(SYS_gettimeofday, &raw_tv, NULL);
	printf("gettimeofday %ld.%06ld %s\n", tv.tv_sec, tv.tv_usec,
		tv.tv_sec == raw_tv.tv_sec && tv.tv_usec == raw_tv.tv_usec ? "both" : "differ");
	printf("time %ld\n", time(NULL));
}

int main(void)
{
	const struct timespec nap = {1, 500000000};

	print_all();
	nanosleep(&nap, NULL);
	print_all();
	return 0;
}
