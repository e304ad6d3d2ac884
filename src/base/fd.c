/* SPDX-License-Identifier: Apache-2.0 */
/* File descriptors: see fd.h. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/mem.h"

enum { FD_PASS_MAX = 8 };

void fd_cleanup(int *fd)
{
	int saved = errno;

	fd_close(fd);
	errno = saved;
}

int fd_take(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

void fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int fd_write_all(int fd, const void *data, size_t len, struct error *err)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "write");
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int fd_read_all(int fd, void *data, size_t len, struct error *err)
{
	char *p = data;
	size_t got = 0;

	while (got < len) {
		ssize_t n = read(fd, p + got, len - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "read");
		if (n == 0 && got == 0)
			return 0;
		if (n == 0)
			return error_set(err, ERR_FORMAT, "unexpected end of file");
		got += (size_t)n;
	}
	return 1;
}

int fd_slurp(int fd, size_t max, char **ret_data, size_t *ret_len, struct error *err)
{
	autofree char *data = NULL;
	size_t len = 0, room = 0;

	for (;;) {
		ssize_t n;

		if (len + 1 >= room) {
			room = room ? room * 2 : 4096;
			data = mem_grow(data, room, 1);
		}
		n = read(fd, data + len, room - len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "read");
		if (n == 0)
			break;
		len += (size_t)n;
		if (len > max)
			return error_set(err, ERR_LIMIT, "larger than %zu bytes", max);
	}
	data[len] = '\0';
	*ret_data = take_ptr(data);
	*ret_len = len;
	return 0;
}

int fd_send(int sock, const int *fds, size_t count, struct error *err)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * FD_PASS_MAX)];
	} control = {0};
	char byte = 'F';
	struct iovec iov = {.iov_base = &byte, .iov_len = 1};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (count > FD_PASS_MAX)
		return error_set(
			err, ERR_LIMIT, "more than %d descriptors in one message", FD_PASS_MAX);
	if (count > 0) {
		struct cmsghdr *c;

		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * count);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * count);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * count);
	}
	while (sendmsg(sock, &msg, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return error_sys(err, "send descriptors");
	return 0;
}

int fd_recv(int sock, int *ret_fds, size_t count, struct error *err)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * FD_PASS_MAX)];
	} control = {0};
	char byte;
	struct iovec iov = {.iov_base = &byte, .iov_len = 1};
	struct msghdr msg = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	int got[FD_PASS_MAX];
	size_t n = 0;
	ssize_t r;

	do
		r = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return error_sys(err, "receive descriptors");
	if (r == 0)
		return error_set(err, ERR_DIED, "the other side closed the socket");
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
			n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
			memcpy(got, CMSG_DATA(c), n * sizeof(int));
		}
	if (n != count) {
		for (size_t i = 0; i < n; i++)
			close(got[i]);
		return error_set(err, ERR_FORMAT, "expected %zu descriptors, got %zu", count, n);
	}
	memcpy(ret_fds, got, n * sizeof(int));
	return 0;
}

static bool is_of_kernel(int fd)
{
	static const long magics[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC};
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return true;
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if ((long)fs.f_type == magics[i])
			return true;
	return false;
}

int fd_open_file(const char *path)
{
	autoclose int found = open(path, O_PATH | O_CLOEXEC);
	char same[64];
	struct stat st;

	if (found < 0 || fstat(found, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode) || is_of_kernel(found)) {
		errno = ENXIO;
		return -1;
	}
	snprintf(same, sizeof(same), "/proc/self/fd/%d", found);
	return open(same, O_RDONLY | O_CLOEXEC);
}
