/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A setting of the kernel that the contract does not know is not there: to open, to stat, to
 * list.
 *: pinned
 *: out open: No such file or directory
 *: out stat: No such file or directory
 *: out listed: 0
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int main(void)
{
	static const char path[] = "/proc/sys/fs/dentry-state";
	struct stat st;
	struct dirent *d;
	int listed = 0;
	DIR *dir;

	printf("open: %s\n", open(path, O_RDONLY) < 0 ? strerror(errno) : "there");
	printf("stat: %s\n", stat(path, &st) < 0 ? strerror(errno) : "there");
	dir = opendir("/proc/sys/fs");
	while (dir && (d = readdir(dir)) != NULL)
		listed += strcmp(d->d_name, "dentry-state") == 0;
	printf("listed: %d\n", listed);
	return 0;
}
