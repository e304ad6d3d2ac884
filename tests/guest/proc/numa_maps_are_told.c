/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the host put the guest's pages is told when it is read.
 *: unenforced external_input
 *: exit 121
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	char data[4096];
	int fd = open("/proc/self/numa_maps", O_RDONLY);

	printf("%s\n", read(fd, data, sizeof(data)) > 0 ? "read" : "not read");
	return 0;
}
