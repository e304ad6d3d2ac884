/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of /proc there is what the table of files decides, whatever kernel the host has: the rest is not
 * there to open, to stat, to change to or to list. What would tell of the host's pages is refused.
 *: pinned
 *: rootless
 *: out /proc/config.gz: ENOENT ENOENT 0
 *: out /proc/kcore: ENOENT ENOENT 0
 *: out /proc/kpagecount: ENOENT ENOENT 0
 *: out /proc/driver: ENOENT ENOENT 0
 *: out /proc/pressure: ENOENT ENOENT 0
 *: out /proc/self/attr: ENOENT ENOENT 0
 *: out /proc/self/attr/current: ENOENT ENOENT -1
 *: out /proc/self/arch_status: ENOENT ENOENT 0
 *: out /proc/self/task/64/ksm_stat: ENOENT ENOENT 0
 *: out /proc/self/net/stat: ENOENT ENOENT 0
 *: out /proc/uptime: 0 0 1
 *: out /proc/self/net/tcp: 0 0 1
 *: out /proc/self/task/64/children: 0 0 1
 *: out chdir: ENOENT ENOENT
 *: out pagemap: EPERM
 *: out CPU0
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../guest.h"

static const char *word(int result)
{
	return result >= 0 ? "0" : strerrorname_np(errno);
}

/* -1: the directory is not there. */
static int listed(const char *path)
{
	char dir[64];
	const char *name = strrchr(path, '/') + 1;
	struct dirent *e = NULL;
	DIR *d = NULL;
	int found = 0;

	snprintf(dir, sizeof(dir), "%.*s", (int)(name - path), path);
	d = opendir(dir);
	if (d == NULL)
		return -1;
	while ((e = readdir(d)) != NULL)
		found += strcmp(e->d_name, name) == 0;
	closedir(d);
	return found;
}

int main(void)
{
	static const char *const paths[] = {"/proc/config.gz", "/proc/kcore", "/proc/kpagecount",
		"/proc/driver", "/proc/pressure", "/proc/self/attr", "/proc/self/attr/current",
		"/proc/self/arch_status", "/proc/self/task/64/ksm_stat", "/proc/self/net/stat",
		"/proc/uptime", "/proc/self/net/tcp", "/proc/self/task/64/children"};
	char line[64] = "";
	struct stat st;
	FILE *f = NULL;

	for (unsigned i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const char *opened = word(open(paths[i], O_RDONLY));

		printf("%s: %s %s %d\n", paths[i], opened, word(stat(paths[i], &st)),
			listed(paths[i]));
	}
	printf("chdir: %s ", word(chdir("/proc/driver")));
	printf("%s\n", word(chdir("/proc/self/attr")));
	printf("pagemap: %s\n", word(open("/proc/self/pagemap", O_RDONLY)));
	/* It is masked, and has a text all the same. */
	f = fopen("/proc/interrupts", "r");
	if (f != NULL && fscanf(f, "%63s", line) == 1)
		printf("%s\n", line);
	return 0;
}
