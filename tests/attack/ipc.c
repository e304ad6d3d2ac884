/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks through objects of inter-process communication that the host holds. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum verdict ipc_sysv_shm(void)
{
	int id = shmget(CANARY_SHM_KEY, 0, 0);

	if (id < 0)
		return contained("shmget: %s", strerror(errno));
	return escaped("the host's segment is there");
}

static enum verdict reach(const struct sockaddr_un *address, socklen_t len, const char *what)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return contained("socket: %s", strerror(errno));
	int result = connect(fd, (const struct sockaddr *)address, len);
	enum verdict verdict = refused(what, result);

	close(fd);
	return verdict;
}

enum verdict ipc_abstract_unix(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const size_t len = strlen(CANARY_ABSTRACT);

	memcpy(address.sun_path + 1, CANARY_ABSTRACT, len);
	return reach(&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len),
		"connecting to the host's abstract socket");
}

enum verdict ipc_path_unix(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", canary.socket);
	return reach(&address, sizeof(address), "connecting to the host's unix socket");
}

enum verdict ipc_dev_shm(void)
{
	static const char *const paths[] = {CANARY_DEV_SHM, NULL};

	return refused_open(paths, O_RDONLY);
}

enum verdict ipc_mqueue(void)
{
	mqd_t queue = mq_open("/" CANARY_ABSTRACT, O_RDONLY);

	return refused("opening the host's message queue", queue);
}
