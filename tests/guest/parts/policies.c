/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what a guest is told when it tries to change, or to see through, what the sandbox set up.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void print_call(const char *name, long number, long a, long b, long c)
{
	errno = 0;
	const long result = syscall(number, a, b, c, 0L, 0L);

	if (result < 0)
		printf("%s: %s\n", name, strerrorname_np(errno));
	else
		printf("%s: %ld\n", name, result);
}

static void identity(void)
{
	print_call("setuid own", SYS_setuid, 1000, 0, 0);
	print_call("setuid root", SYS_setuid, 0, 0, 0);
	print_call("setresuid unmapped", SYS_setresuid, -1, 4242, -1);
	print_call("setresgid kept", SYS_setresgid, -1, -1, 1000);
	print_call("getgroups count", SYS_getgroups, 0, 0, 0);
}

static void options(void)
{
	int tsc = 0;

	print_call("thp", SYS_prctl, PR_GET_THP_DISABLE, 0, 0);
	print_call("timer slack", SYS_prctl, PR_GET_TIMERSLACK, 0, 0);
	print_call("dumpable", SYS_prctl, PR_GET_DUMPABLE, 0, 0);
	print_call("set dumpable 0", SYS_prctl, PR_SET_DUMPABLE, 0, 0);
	print_call("dumpable", SYS_prctl, PR_GET_DUMPABLE, 0, 0);
	print_call("counter for itself", SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0);
	prctl(PR_GET_TSC, &tsc);
	printf("counter %d\n", tsc);
	print_call("speculation", SYS_prctl, PR_GET_SPECULATION_CTRL, 0, 0);
	fflush(stdout);
	if (fork() == 0) { /* outside of the sandbox they work, and kill */
		print_call("dispatch", SYS_prctl, 59 /* PR_SET_SYSCALL_USER_DISPATCH */, 1, 0);
		print_call("strict seccomp", SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0);
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	personality(0);
	printf("fixed addresses %d\n", (personality(0xffffffff) & ADDR_NO_RANDOMIZE) != 0);
#ifdef SYS_arch_prctl
	print_call("cpuid", SYS_arch_prctl, 0x1012 /* ARCH_SET_CPUID */, 1, 0);
	print_call("second vDSO", SYS_arch_prctl, 0x2003 /* ARCH_MAP_VDSO_64 */, 0x10000, 0);
#endif
}

static void priorities(void)
{
	struct sched_param param = {.sched_priority = 1};
	cpu_set_t second;

	print_call("nice", SYS_getpriority, PRIO_PROCESS, 0, 0);
	print_call("nicer", SYS_setpriority, PRIO_PROCESS, 0, 5);
	print_call("less nice", SYS_setpriority, PRIO_PROCESS, 0, -5);
	print_call("real time", SYS_sched_setscheduler, 0, SCHED_FIFO, (long)&param);
	param.sched_priority = 0;
	print_call("batch", SYS_sched_setscheduler, 0, SCHED_BATCH, (long)&param);
	print_call("scheduler", SYS_sched_getscheduler, 0, 0, 0);
	CPU_ZERO(&second);
	CPU_SET(1, &second);
	print_call("second cpu", SYS_sched_setaffinity, 0, sizeof(second), (long)&second);
	CPU_SET(0, &second);
	print_call("both cpus", SYS_sched_setaffinity, 0, sizeof(second), (long)&second);
	print_call("io class", SYS_ioprio_get, 1, 0, 0);
	print_call("io real time", SYS_ioprio_set, 1, 0, 1 << 13);
	print_call("barriers", SYS_membarrier, 0, 0, 0);
	print_call("barrier", SYS_membarrier, 1, 0, 0);
}

static void memory(void)
{
	enum { PAGES = 8 };
	unsigned char in_memory[PAGES] = {0};
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(
		NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *huge;
	int count = 0;

	p[page] = 1;
	print_call("mincore", SYS_mincore, (long)p, PAGES * (long)page, (long)in_memory);
	for (int i = 0; i < PAGES; i++)
		count += in_memory[i];
	printf("pages in memory %d\n", count);
	print_call("free", SYS_madvise, (long)p, (long)page, MADV_FREE);
	print_call("huge", SYS_madvise, (long)p, (long)page, MADV_HUGEPAGE);
	huge = mmap(NULL, 2 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	printf("huge mapping: %s\n", huge == MAP_FAILED ? strerrorname_np(errno) : "worked");
	munmap(p, PAGES * page);
	print_call("mincore of nothing", SYS_mincore, (long)p, PAGES * (long)page, (long)in_memory);
}

static void print_option(const char *name, int result)
{
	printf("%s: %s\n", name, result < 0 ? strerrorname_np(errno) : "worked");
}

static void sockets(void)
{
	const int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	char data[64] = "";
	socklen_t len = sizeof(data);
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, 0xffff);
	const struct sock_fprog filter = {.len = 1, .filter = &all};

	print_option("reuse", setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
	print_option("time stamps", setsockopt(s, SOL_SOCKET, SO_TIMESTAMPING, &one, sizeof(one)));
	print_option(
		"filter", setsockopt(s, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)));
	print_option("memory", getsockopt(s, SOL_SOCKET, SO_MEMINFO, data, &len));
	print_call("last stamp", SYS_ioctl, s, 0x8906 /* SIOCGSTAMP */, (long)data);
	print_call("disk blocks", SYS_ioctl, 0, (long)0xc020660bL /* FS_IOC_FIEMAP */, (long)data);
	close(s);
}

/* A filter of the guest's own that refuses the supervisor's calls too; what blocks must still stop.
 */
static void filters(void)
{
	struct sock_filter refuse[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOANO),
	};
	const struct sock_fprog prog = {sizeof(refuse) / sizeof(*refuse), refuse};
	int ends[2];
	char byte = 0;

	print_call("filter", SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&prog);
	print_call("getppid", SYS_getppid, 0, 0, 0);
	if (pipe(ends) < 0)
		return;
	fflush(stdout);
	if (fork() == 0) {
		sleep(1);
		if (write(ends[1], "x", 1) != 1)
			_exit(1);
		_exit(0);
	}
	printf("read %zd\n", read(ends[0], &byte, 1));
}

int main(void)
{
	identity();
	options();
	priorities();
	memory();
	sockets();
	filters();
	return 0;
}
