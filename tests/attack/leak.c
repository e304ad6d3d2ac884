/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks on what the kernel tells about the host, and on the switches that it offers. */
#include "attack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/stat.h>
#include <unistd.h>

enum verdict leak_proc_sys_write(void)
{
	static const char *const paths[] = {"/proc/sys/kernel/core_pattern",
		"/proc/sys/kernel/hostname", "/proc/sys/kernel/modprobe",
		"/proc/sys/vm/drop_caches", "/proc/sys/net/ipv4/ip_forward",
		"/proc/sys/kernel/ns_last_pid", "/proc/sysrq-trigger",
		"/proc/irq/default_smp_affinity", "/proc/sys/fs/binfmt_misc/register",
		"/proc/bus/pci/devices", NULL};

	return refused_open(paths, O_WRONLY);
}

enum verdict leak_cgroup_write(void)
{
	static const char *const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/memory",
		"/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids"};
	char path[128];

	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++) {
		snprintf(path, sizeof(path), "%s/sandglass-attack", roots[i]);
		if (mkdir(path, 0700) == 0) {
			rmdir(path);
			return escaped("a cgroup could be made at %s", path);
		}
		static const char *const names[] = {"release_agent", "cgroup.procs", "memory.max",
			"memory.limit_in_bytes", "devices.allow"};

		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
			snprintf(path, sizeof(path), "%s/%s", roots[i], names[k]);
			int fd = open(path, O_WRONLY | O_CLOEXEC);

			if (fd >= 0) {
				close(fd);
				return escaped("'%s' could be opened", path);
			}
		}
	}
	return contained("cgroups are out of reach: %s", strerror(errno));
}

enum verdict leak_kallsyms(void)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[256];

	if (!f)
		return contained("no kallsyms: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		if (strtoull(line, NULL, 16)) {
			fclose(f);
			return escaped("kernel addresses are shown");
		}
	}
	fclose(f);
	return contained("zeros only");
}

enum verdict leak_cmdline(void)
{
	int found = file_holds("/proc/cmdline", canary.cmdline);

	if (found == 1)
		return escaped("the host kernel's command line is shown");
	return contained(found < 0 ? "no /proc/cmdline" : "another command line");
}

enum verdict leak_dmesg(void)
{
	static char text[256];

	return refused("reading the kernel's log", klogctl(3, text, sizeof(text)));
}

enum verdict leak_kcore(void)
{
	static const char *const paths[] = {"/proc/kcore", "/proc/kmsg", "/proc/kpagecount",
		"/proc/timer_list", "/proc/sched_debug", "/proc/slabinfo", "/proc/vmallocinfo",
		NULL};
	char text[256];

	for (const char *const *p = paths; *p; p++) {
		int fd = open(*p, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		/* A headline tells nothing. */
		if (fd >= 0 && read(fd, text, sizeof(text)) > 64)
			return escaped("%s can be read", *p);
		if (fd >= 0)
			close(fd);
	}
	return contained("nothing to read in them");
}

enum verdict leak_sysfs(void)
{
	static const char *const paths[] = {"/sys/kernel/debug", "/sys/kernel/security",
		"/sys/kernel/tracing", "/sys/firmware", "/sys/class/dmi/id", "/sys/class/block",
		"/sys/block", "/sys/bus/pci", "/sys/module", "/sys/power",
		"/sys/kernel/vmcoreinfo"};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		DIR *dir = opendir(paths[i]);
		int entries = 0;

		while (dir && readdir(dir))
			entries++;
		if (dir)
			closedir(dir);
		if (entries > 2)
			return escaped("%s tells about the host", paths[i]);
	}
	return contained("/sys tells nothing of the host's devices");
}

enum verdict leak_hostname(void)
{
	char name[256] = "";

	gethostname(name, sizeof(name) - 1);
	if (strcmp(name, canary.host) == 0)
		return escaped("the host's name is shown");
	if (sethostname("attack", 6) == 0)
		return escaped("the name could be changed");
	return contained("the name is '%s'", name);
}
