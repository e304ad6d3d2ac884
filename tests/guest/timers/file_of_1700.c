/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of files as far back as the kernel keeps them, where nanoseconds no longer fit.
 *
 *: long
 *: native
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "say.h"

int main(void)
{
	static const long seconds[] = {-9000000000, -8000000000, -2000000000, -1, 1000000000};
	struct stat st;
	int fd = open("/dev/shm/file_of_1700", O_RDWR | O_CREAT, 0600);

	for (int i = 0; i < 5; i++) {
		const struct timespec ts[2] = {{seconds[i], 5}, {seconds[i], 999999999}};

		say("set", futimens(fd, ts));
		fstat(fd, &st);
		printf("%ld.%09ld\n", (long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	}
	unlink("/dev/shm/file_of_1700");
	return 0;
}
