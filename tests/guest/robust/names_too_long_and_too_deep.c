/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths at and beyond the limits, and links that lead to themselves: the kernel's own answers.
 *: native
 *: long
 *: out 36 36 40 0 36
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int answer(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

int main(void)
{
	static char name[300], path[5000], most[4096];
	int deep;

	memset(name, 'n', 256);
	for (size_t i = 0; i + 2 < sizeof(path); i += 2)
		memcpy(path + i, "./", 2);
	for (size_t i = 0; i + 3 < sizeof(most); i += 2)
		memcpy(most + i, "./", 2);
	most[4094] = '.';
	if (symlink("loop", "loop") < 0)
		return 1;
	for (deep = 0; deep < 200; deep++)
		if (mkdir("deep", 0755) < 0 || chdir("deep") < 0)
			return 1;
	for (; deep > 0; deep--)
		if (chdir("..") < 0)
			return 1;
	printf("%d %d %d %d %d\n", answer(name), answer(path), answer("loop"), answer(most),
		mkdir(name, 0755) < 0 ? errno : 0);
	return 0;
}
