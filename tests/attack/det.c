/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks on determinism: to see the host's time, randomness or addresses in spite of the engine.
 */
#include "attack.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <asm/prctl.h>
#include <cpuid.h>
#include <x86intrin.h>

/* The pinned counter is the monotonic clock, which stands still between two reads. */
static enum verdict check_tsc(void)
{
	struct timespec now;
	unsigned cpu;

	clock_gettime(CLOCK_MONOTONIC, &now);
	const uint64_t logical = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	const uint64_t first = __rdtsc(), second = __rdtscp(&cpu);

	if (first != logical || second != logical)
		return escaped("rdtsc differs from the monotonic clock");
	return contained("rdtsc is the monotonic clock");
}

enum verdict det_rdtsc(void)
{
	return check_tsc();
}

enum verdict det_tsc_enable(void)
{
	prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
	return check_tsc();
}

enum verdict det_cpuid_enable(void)
{
	unsigned a, b, c = 0, d;

	syscall(SYS_arch_prctl, ARCH_SET_CPUID, 1);
	__cpuid(1, a, b, c, d);
	if (c & bit_RDRND)
		return escaped("cpuid shows RDRAND");
	/* Bits 24 to 31 of ebx are the number of the CPU that asks. */
	if (b >> 24)
		return escaped("cpuid shows the host's CPU %u", b >> 24);
	return contained("the fixed model");
}

/* cpuid hides it, but the instruction would work. The harness compares two runs. */
static int draw(unsigned long long *value)
{
	unsigned char ok;

	__asm__ volatile("rdrand %0\n\tsetc %1" : "=r"(*value), "=qm"(ok) : : "cc");
	return ok;
}

static enum verdict try_rdrand(void)
{
	unsigned long long value;

	return draw(&value) ? judged("rdrand gave %llx", value) : contained("rdrand gave nothing");
}

enum verdict det_rdrand(void)
{
	return in_child(try_rdrand);
}

/* The page that statically linked programs of old call for the time. */
static enum verdict try_vsyscall(void)
{
	time_t (*legacy)(time_t *) = (time_t(*)(time_t *))0xffffffffff600400UL;
	struct timespec now;
	time_t seen = legacy(NULL);

	clock_gettime(CLOCK_REALTIME, &now);
	if (seen != now.tv_sec)
		return escaped("the vsyscall page tells the host's time");
	return contained("the vsyscall page tells logical time");
}

enum verdict det_vsyscall(void)
{
	return in_child(try_vsyscall);
}
#else
enum verdict det_rdtsc(void)
{
	return contained("this architecture has no rdtsc");
}

enum verdict det_tsc_enable(void)
{
	return contained("this architecture has no rdtsc");
}

enum verdict det_cpuid_enable(void)
{
	return contained("this architecture has no cpuid");
}

enum verdict det_rdrand(void)
{
	return contained("this architecture has no rdrand");
}

enum verdict det_vsyscall(void)
{
	return contained("this architecture has no vsyscall page");
}
#endif

/*
 * The kernel's own functions of time compute from pages below the vDSO, which hold the host's time.
 * A pipe tells whether a page can be read. The harness compares two runs.
 */
enum verdict det_vvar(void)
{
	enum { PAGE = 4096, PAGES = 16 };
	const uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
	uint64_t digest = 0;
	int ends[2], readable = 0;

	if (!vdso)
		return contained("there is no vDSO");
	for (int i = 1; i <= PAGES; i++) {
		unsigned char page[PAGE];

		if (pipe(ends) < 0)
			return escaped("no pipe");
		if (write(ends[1], (const void *)(vdso - (uintptr_t)i * PAGE), PAGE) == PAGE &&
			read(ends[0], page, PAGE) == PAGE) {
			readable++;
			for (int k = 0; k < PAGE; k++)
				digest = digest * 31 + page[k];
		}
		close(ends[0]);
		close(ends[1]);
	}
	return judged("%d pages below the vDSO, %llx", readable, (unsigned long long)digest);
}

static int global;

/* Where things lie, and the kernel's 16 random bytes: the harness compares two runs. */
static enum verdict tell_addresses(void)
{
	int local = 0;
	const uint64_t *seed = (const uint64_t *)getauxval(AT_RANDOM);

	return judged("%p %p %p %p %#lx %#llx%llx", (void *)&local, malloc(1 << 20),
		(void *)&global, sbrk(0), getauxval(AT_SYSINFO_EHDR),
		seed ? (unsigned long long)seed[0] : 0, seed ? (unsigned long long)seed[1] : 0);
}

enum verdict det_aslr(void)
{
	return tell_addresses();
}

/* Switches randomization on and starts anew. */
enum verdict det_personality(void)
{
	personality(PER_LINUX);
	execl("/proc/self/exe", "attack", "det/aslr", (char *)NULL);
	return contained("exec: %s", strerror(errno));
}

/* Without the vDSO every clock read is a call; the engine may have had more than that in it. */
enum verdict det_vdso_gone(void)
{
	char *vdso = (char *)getauxval(AT_SYSINFO_EHDR);
	struct timespec before, after;

	if (!vdso)
		return contained("there is no vDSO");
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &before);
	if (munmap(vdso, 8192))
		return contained("it cannot be unmapped: %s", strerror(errno));
	usleep(1000);
	const pid_t pid = (pid_t)syscall(SYS_getpid);
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &after);
	return judged("%d %ld.%09ld %ld.%09ld", pid, before.tv_sec, before.tv_nsec, after.tv_sec,
		after.tv_nsec);
}

/* A filter of the guest's own that answers getrandom before the engine can see the call. */
enum verdict det_own_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};
	unsigned long value = 0;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
	if (syscall(SYS_getrandom, &value, sizeof(value), 0) != sizeof(value))
		return contained("getrandom: %s", strerror(errno));
	return judged("%#lx", value);
}

/* A filter of the guest's own that hands a call to a tracer, where the engine does not expect it.
 */
enum verdict det_filter_tracer(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return contained("filter: %s", strerror(errno));
	return contained("getppid: %ld", syscall(SYS_getppid));
}

/* The kernel writes the CPU's number into a registered area without any call. */
enum verdict det_rseq_cpu(void)
{
	static struct {
		uint32_t cpu_id_start, cpu_id;
		uint64_t rseq_cs;
		uint32_t flags, pad[3];
	} __attribute__((aligned(32))) area;

	return refused("rseq", syscall(SYS_rseq, &area, sizeof(area), 0, 0x53053053));
}

static volatile sig_atomic_t limit_reached;

static void on_limit(int sig)
{
	(void)sig;
	limit_reached = 1;
}

/* A limit on CPU time: the kernel would say when so much of the host's was used. */
enum verdict det_cpu_limit(void)
{
	struct rlimit limit = {1, RLIM_INFINITY};
	unsigned long turns = 0;

	signal(SIGXCPU, on_limit);
	if (setrlimit(RLIMIT_CPU, &limit))
		return contained("setrlimit: %s", strerror(errno));
	while (!limit_reached && turns < 4000000000)
		turns++;
	if (limit_reached)
		return escaped("a second of the host's CPU was over after %lu turns", turns);
	return contained("the limit was not reached");
}
