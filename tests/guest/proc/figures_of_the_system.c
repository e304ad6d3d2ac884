/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load, uptime, processor time, memory, interrupts and locks of the whole system.
 *: varies
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	static const char *const files[] = {"loadavg", "uptime", "stat", "meminfo", "vmstat",
		"interrupts", "softirqs", "locks", "zoneinfo", "buddyinfo", "diskstats", "cpuinfo",
		"schedstat", "net/dev", "net/snmp", "net/netstat", "net/sockstat", "pressure/cpu",
		"sys/kernel/random/boot_id", "self/mountinfo", "self/limits", "self/cgroup"};

	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char path[64], data[4096];
		size_t all = 0;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s", files[i]);
		printf("%s:\n", path);
		f = fopen(path, "r");
		for (size_t n; f && all < 20000 && (n = fread(data, 1, sizeof(data), f)) > 0;
			all += n)
			fwrite(data, 1, n, stdout);
		if (f)
			fclose(f);
	}
	return 0;
}
