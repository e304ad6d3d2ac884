/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what the kernel says about the machine and about this process by system calls. */
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <unistd.h>

static void print_machine(void)
{
	struct utsname name;
	struct sysinfo info;
	struct statfs fs;
	cpu_set_t set;

	uname(&name);
	printf("uname %s %s %s %s\n", name.sysname, name.nodename, name.release, name.version);
	sysinfo(&info);
	printf("memory %lu free %lu swap %lu, load %lu, uptime %ld\n",
		info.totalram * info.mem_unit, info.freeram * info.mem_unit, info.totalswap,
		info.loads[0], info.uptime);
	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	printf("cpus %d, first %d, current %d, configured %ld, online %ld\n", CPU_COUNT(&set),
		CPU_ISSET(0, &set) != 0, sched_getcpu(), sysconf(_SC_NPROCESSORS_CONF),
		sysconf(_SC_NPROCESSORS_ONLN));
	static const char *const places[] = {"/", ".", "/tmp", "/usr", "/dev"};
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (statfs(places[i], &fs) == 0)
			printf("statfs %s: %ld x %lu, free %lu, files %lu\n", places[i], fs.f_bsize,
				fs.f_blocks, fs.f_bfree, fs.f_files);
	}
}

static void print_process(void)
{
	struct rusage usage;
	struct tms tms;
	gid_t groups[64];
	const int count = getgroups(64, groups);
	volatile unsigned work = 0;

	/* Enough that the kernel's own figures would show it. */
	for (unsigned i = 0; i < 30000000; i++)
		work = work + i;
	printf("pid %d parent %d group %d session %d\n", getpid(), getppid(), getpgrp(), getsid(0));
	printf("uid %u %u gid %u %u, %d groups, first %d\n", getuid(), geteuid(), getgid(),
		getegid(), count, count > 0 ? (int)groups[0] : -1);
	getrusage(RUSAGE_SELF, &usage);
	printf("user %ld.%06ld system %ld.%06ld, switches %ld %ld\n", usage.ru_utime.tv_sec,
		usage.ru_utime.tv_usec, usage.ru_stime.tv_sec, usage.ru_stime.tv_usec,
		usage.ru_nvcsw, usage.ru_nivcsw);
	printf("faults %ld %ld, peak %ld, blocks %ld %ld\n", usage.ru_minflt, usage.ru_majflt,
		usage.ru_maxrss, usage.ru_inblock, usage.ru_oublock);
	printf("times %ld %ld %ld\n", times(&tms), tms.tms_utime, tms.tms_stime);
	printf("nice %d, scheduler %d\n", getpriority(PRIO_PROCESS, 0), sched_getscheduler(0));
}

int main(void)
{
	print_machine();
	print_process();
	return 0;
}
