/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mappings, their sizes and the auxiliary vector are the same in every run.
 *: varies
 *: long
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void copy(const char *path)
{
	char data[4096];
	int fd = open(path, O_RDONLY);
	ssize_t n;

	printf("%s\n", path);
	fflush(stdout);
	while ((n = read(fd, data, sizeof(data))) > 0)
		if (write(1, data, (size_t)n) != n)
			break;
	close(fd);
}

int main(void)
{
	copy("/proc/self/maps");
	copy("/proc/self/smaps");
	copy("/proc/self/smaps_rollup");
	copy("/proc/self/statm");
	copy("/proc/self/auxv");
	copy("/proc/self/io");
	copy("/proc/self/sched");
	copy("/proc/self/schedstat");
	return 0;
}
