/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /sys is that of a small machine: one CPU, one node, the memory and the processes of the contract,
 * one interface; what the host has beyond it is not there.
 *: pinned
 *: rootless
 *: out devices/system/cpu/online 0
 *: out devices/system/cpu/cpu0/topology/core_siblings_list 0
 *: out devices/system/cpu/cpu0/cache/index3/size 8192K
 *: out devices/system/cpu/cpu0/node0/cpulist 0
 *: out devices/system/node/node0/meminfo Node 0 MemTotal:       2097152 kB
 *: out devices/system/memory/block_size_bytes 20000000
 *: out devices/system/memory/memory3/phys_index 00000003
 *: out kernel/mm/transparent_hugepage/enabled always madvise [never]
 *: out fs/cgroup/memory.max 2147483648
 *: out fs/cgroup/cpu.max 100000 100000
 *: out fs/cgroup/pids.max 512
 *: out class/net/lo/mtu 65536
 *: out class/net/lo/statistics/rx_bytes 0
 *: out devices/system/cpu/cpu1 No such file or directory
 *: out devices/system/memory/memory4 No such file or directory
 *: out class/dmi No such file or directory
 *: out firmware No such file or directory
 *: out block is empty
 *: out class/block is empty
 *: out types 62656572 63677270
 *: out online: Permission denied
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../guest.h"

static void show(const char *name)
{
	char path[128], line[256];
	FILE *f = NULL;

	snprintf(path, sizeof(path), "/sys/%s", name);
	f = fopen(path, "r");
	if (f == NULL) {
		printf("%s %s\n", name, strerror(errno));
		return;
	}
	if (fgets(line, sizeof(line), f) == NULL)
		strcpy(line, "?\n");
	printf("%s %s", name, line);
	fclose(f);
}

static void count(const char *name)
{
	char path[128];
	struct dirent *e = NULL;
	DIR *d = NULL;

	snprintf(path, sizeof(path), "/sys/%s", name);
	d = opendir(path);
	while (d != NULL && (e = readdir(d)) != NULL)
		if (e->d_name[0] != '.')
			printf("%s/%s\n", name, e->d_name);
	if (d != NULL)
		closedir(d);
	printf("%s is %s\n", name, d != NULL ? "empty" : strerror(errno));
}

int main(void)
{
	static const char *const names[] = {"devices/system/cpu/online",
		"devices/system/cpu/cpu0/topology/core_siblings_list",
		"devices/system/cpu/cpu0/cache/index3/size",
		"devices/system/cpu/cpu0/node0/cpulist", "devices/system/node/node0/meminfo",
		"devices/system/memory/block_size_bytes",
		"devices/system/memory/memory3/phys_index",
		"kernel/mm/transparent_hugepage/enabled", "fs/cgroup/memory.max",
		"fs/cgroup/cpu.max", "fs/cgroup/pids.max", "class/net/lo/mtu",
		"class/net/lo/statistics/rx_bytes", "devices/system/cpu/cpu1",
		"devices/system/memory/memory4", "class/dmi", "firmware"};
	struct statfs sys, cgroup;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		show(names[i]);
	count("block");
	count("class/block");
	MUST(statfs("/sys", &sys));
	MUST(statfs("/sys/fs/cgroup", &cgroup));
	printf("types %lx %lx\n", (long)sys.f_type, (long)cgroup.f_type);
	if (open("/sys/devices/system/cpu/online", O_WRONLY) < 0)
		printf("online: %s\n", strerror(errno));
	return 0;
}
