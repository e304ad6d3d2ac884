/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the time stamp counter, read by both instructions, and what cpuid says of the CPU. */
#include <unistd.h>
#include <sys/syscall.h>
#include <signal.h>
#include <cpuid.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

static void print_cpuid(void)
{
	unsigned a, b, c, d;

	__cpuid(1, a, b, c, d);
	printf("rdrand %d, cpu number %u, hypervisor %d\n", !!(c & bit_RDRND), b >> 24, c >> 31);
	if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
		printf("rdseed %d, rtm %d, hle %d, rdpid %d, waitpkg %d\n", !!(b & bit_RDSEED),
			!!(b & (1u << 11)), !!(b & (1u << 4)), !!(c & (1u << 22)),
			!!(c & (1u << 5)));
}

static volatile sig_atomic_t killed;

static void note(int sig)
{
	killed = sig == SIGSEGV;
}

/* The signal by which the counter traps, sent by somebody, as the counter is about to be read. */
static void print_killed(void)
{
	unsigned low, high;

	signal(SIGSEGV, note);
	__asm__ volatile("syscall\n\trdtsc"
			 : "=a"(low), "=d"(high)
			 : "a"((long)SYS_kill), "D"((long)getpid()), "S"((long)SIGSEGV)
			 : "rcx", "r11", "memory");
	signal(SIGSEGV, SIG_DFL);
	printf("killed %d, rdtsc %llu\n", (int)killed, (unsigned long long)high << 32 | low);
}

int main(int argc, char **argv)
{
	const struct timespec nap = {2, 0};
	unsigned cpu = 0;

	if (argc > 1 && strcmp(argv[1], "cpuid") == 0) {
		print_cpuid();
		return 0;
	}
	printf("rdtsc %llu\n", __rdtsc());
	nanosleep(&nap, NULL);
	printf("rdtsc %llu\n", __rdtsc());
	printf("rdtscp %llu\n", __rdtscp(&cpu));
	print_killed();
	return 0;
}
