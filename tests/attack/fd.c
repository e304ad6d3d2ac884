/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks through descriptors that somebody else opened. */
#include "attack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum verdict fd_fd_leak(void)
{
	for (int fd = 3; fd < 4096; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			return escaped("descriptor %d is open", fd);
	return contained("0, 1 and 2 only");
}

enum verdict fd_init_fds(void)
{
	char path[64];

	for (int fd = 0; fd < 100; fd++) {
		snprintf(path, sizeof(path), "/proc/1/fd/%d", fd);
		int mine = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

		if (mine < 0)
			mine = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (mine >= 0)
			return escaped("init's descriptor %d can be opened", fd);
	}
	DIR *dir = opendir("/proc/1/fd");
	if (dir) {
		closedir(dir);
		return escaped("init's descriptors can be listed");
	}
	return contained("init's descriptors are closed: %s", strerror(errno));
}
