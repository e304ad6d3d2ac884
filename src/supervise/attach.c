/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor in a container that somebody else made: see attach.h. */
#include "supervise/attach.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"

/* 0, 1, 2 and the control socket; the connection goes out of their way. */
enum { GIVEN = 4, FD_LINK_LEAST = 64 };

static int link_fd = -1;

bool attach_is_on(void)
{
	return link_fd >= 0;
}

static void on_link(int sig)
{
	char bytes[16];
	ssize_t n = recv(link_fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	(void)sig;
	/* Nobody is there who would read what the guest did, or could end it. */
	if (n == 0)
		_exit(125);
	if (n > 0)
		raise(SIGUSR1);
}

static int connect_to(const char *path, struct error *err)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(at.sun_path))
		return error_set(err, ERR_LIMIT, "'%s' is too long for a socket", path);
	memcpy(at.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_sys(err, "create a socket");
	if (connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0) {
		error_sys(err, "connect to '%s'", path);
		close(fd);
		return -1;
	}
	return fd;
}

int attach_to(const char *path, struct error *err)
{
	struct sigaction action = {.sa_handler = on_link};
	autoclose int fd = connect_to(path, err);
	int given[GIVEN];

	if (fd < 0 || fd_recv(fd, given, GIVEN, err) < 0)
		return -1;
	for (int i = 0; i < GIVEN; i++) {
		int parked = fcntl(given[i], F_DUPFD_CLOEXEC, FD_LINK_LEAST);

		if (parked < 0)
			return error_sys(err, "arrange the descriptors");
		close(given[i]);
		given[i] = parked;
	}
	link_fd = fcntl(fd, F_DUPFD_CLOEXEC, FD_LINK_LEAST);
	if (link_fd < 0)
		return error_sys(err, "arrange the descriptors");
	fd_close(&fd);
	for (int i = 0; i < GIVEN; i++) {
		if (dup3(given[i], i, i < GIVEN - 1 ? 0 : O_CLOEXEC) < 0)
			return error_sys(err, "arrange the descriptors");
		close(given[i]);
	}
	if (sigaction(SIGIO, &action, NULL) < 0 || fcntl(link_fd, F_SETOWN, getpid()) < 0 ||
		fcntl(link_fd, F_SETFL, O_NONBLOCK | O_ASYNC) < 0)
		return error_sys(err, "watch the connection to the host");
	return 0;
}
