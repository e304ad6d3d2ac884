/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks by system calls that a guest has no business with. */
#include "attack.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum verdict sys_kexec(void)
{
	long result = syscall(SYS_kexec_load, 0UL, 0UL, NULL, 0xffff0000UL);

	/* EINVAL would mean that only the arguments were wrong. */
	if (result < 0 && errno != EPERM && errno != ENOSYS)
		return escaped("kexec_load is allowed: %s", strerror(errno));
	return refused("kexec_load", result);
}

enum verdict sys_modules(void)
{
	static const long calls[] = {SYS_init_module, SYS_finit_module, SYS_delete_module};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (syscall(calls[i], -1L, 0L, 0L) >= 0 || (errno != EPERM && errno != ENOSYS))
			return escaped("call %ld is allowed: %s", calls[i], strerror(errno));
	return contained("no module can be loaded: %s", strerror(errno));
}

/* With magic numbers that no kernel knows: the permission is asked first. */
enum verdict sys_reboot(void)
{
	if (syscall(SYS_reboot, 1, 2, 3, 4) >= 0 || (errno != EPERM && errno != ENOSYS))
		return escaped("reboot is allowed: %s", strerror(errno));
	return contained("reboot: %s", strerror(errno));
}

enum verdict sys_set_clock(void)
{
	return refused("settimeofday", syscall(SYS_settimeofday, NULL, NULL));
}

enum verdict sys_bpf(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};

	return refused(
		"bpf(BPF_MAP_CREATE)", syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)));
}

enum verdict sys_perf(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.exclude_kernel = 1};

	return refused("perf_event_open", syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}

enum verdict sys_userfaultfd(void)
{
	return refused("userfaultfd", syscall(SYS_userfaultfd, 1));
}

enum verdict sys_io_uring(void)
{
	struct io_uring_params params = {.flags = 0};

	return refused("io_uring_setup", syscall(SYS_io_uring_setup, 1, &params));
}

enum verdict sys_keyring(void)
{
	long id = syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user", CANARY_KEY, 0);

	if (id >= 0)
		return escaped("the host user's key was found");
	if (syscall(SYS_request_key, "user", CANARY_KEY, NULL, 0) >= 0)
		return escaped("the host user's key was requested");
	return refused("add_key",
		syscall(SYS_add_key, "user", "sandglass:attack", "x", 1, KEY_SPEC_USER_KEYRING));
}

enum verdict sys_seccomp_mode(void)
{
	if (file_holds("/proc/self/status", "Seccomp:\t2\n") != 1)
		return escaped("/proc/self/status shows no filter");
	return contained("a filter is active");
}

#if defined(__x86_64__)
static enum verdict try_int80(void)
{
	long result = 20; /* getpid of i386 */

	__asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
	errno = (int)-result;
	return refused("a 32-bit system call", result);
}

static enum verdict try_x32(void)
{
	return refused("an x32 system call", syscall(0x40000000 | SYS_getpid));
}
#else
static enum verdict try_int80(void)
{
	return contained("this architecture has no such calls");
}

static enum verdict try_x32(void)
{
	return contained("this architecture has no such calls");
}
#endif

enum verdict sys_int80(void)
{
	return in_child(try_int80);
}

enum verdict sys_x32(void)
{
	return in_child(try_x32);
}

enum verdict sys_exotic_sockets(void)
{
	static const struct {
		const char *name;
		int family, type;
	} kinds[] = {{"AF_VSOCK", AF_VSOCK, SOCK_STREAM}, {"AF_ALG", AF_ALG, SOCK_SEQPACKET},
		{"AF_PACKET", AF_PACKET, SOCK_RAW}, {"AF_XDP", AF_XDP, SOCK_RAW},
		{"AF_TIPC", AF_TIPC, SOCK_STREAM}, {"AF_RDS", AF_RDS, SOCK_SEQPACKET},
		{"AF_CAN", AF_CAN, SOCK_RAW}, {"AF_BLUETOOTH", AF_BLUETOOTH, SOCK_RAW},
		{"AF_KEY", AF_KEY, SOCK_RAW}, {"AF_QIPCRTR", AF_QIPCRTR, SOCK_DGRAM},
		{"a raw AF_INET socket", AF_INET, SOCK_RAW}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (socket(kinds[i].family, kinds[i].type, kinds[i].family == AF_INET ? 1 : 0) >= 0)
			return escaped("%s can be made", kinds[i].name);
	return contained("none can be made: %s", strerror(errno));
}

#if defined(__x86_64__)
static enum verdict try_ioports(void)
{
	if (ioperm(0x80, 1, 1) == 0)
		return escaped("ioperm works");
	return refused("iopl", iopl(3));
}
#else
static enum verdict try_ioports(void)
{
	return contained("this architecture has no port calls");
}
#endif

enum verdict sys_ioports(void)
{
	return in_child(try_ioports);
}

static enum verdict try_sched_rt(void)
{
	const struct sched_param param = {.sched_priority = 1};
	static const int policies[] = {SCHED_FIFO, SCHED_RR};

	for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++) {
		/* What counts is what the kernel then does, not what it said. */
		sched_setscheduler(0, policies[i], &param);
		if (sched_getscheduler(0) == policies[i])
			return escaped("runs with real-time priority");
	}
	errno = 0;
	if (setpriority(PRIO_PROCESS, 0, -5) == 0 && getpriority(PRIO_PROCESS, 0) == -5)
		return escaped("runs with a higher priority");
	return contained("no higher priority: %s", strerror(errno));
}

enum verdict sys_sched_rt(void)
{
	return in_child(try_sched_rt);
}

enum verdict sys_coredump(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_max != 0)
		return escaped("a core dump is allowed");
	limit.rlim_cur = limit.rlim_max = 4096;
	return refused("raising RLIMIT_CORE", setrlimit(RLIMIT_CORE, &limit));
}

enum verdict sys_mlock(void)
{
	const size_t size = 64UL << 20;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return contained("no memory");
	return refused("mlock of 64 MiB", mlock(memory, size));
}
