/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ten thousand files are made, listed, renamed and removed.
 *: long
 *: option --timeout
 *: option 120s
 *: out 10000 10000 0
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 10000 };

static int count(void)
{
	DIR *dir = opendir("many");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

int main(void)
{
	char name[32], other[32];
	int made, renamed;

	if (mkdir("many", 0755) < 0)
		return 1;
	for (int i = 0; i < FILES; i++) {
		int fd;

		snprintf(name, sizeof(name), "many/%d", i);
		fd = open(name, O_WRONLY | O_CREAT, 0644);
		if (fd < 0)
			return 1;
		close(fd);
	}
	made = count();
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "many/%d", i);
		snprintf(other, sizeof(other), "many/n%d", i);
		if (rename(name, other) < 0)
			return 1;
	}
	renamed = count();
	for (int i = 0; i < FILES; i++) {
		snprintf(other, sizeof(other), "many/n%d", i);
		unlink(other);
	}
	printf("%d %d %d\n", made, renamed, count());
	return 0;
}
