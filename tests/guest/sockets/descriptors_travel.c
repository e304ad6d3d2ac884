/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SCM_RIGHTS: files, pipes and sockets change hands between processes; several at once, without
 * room for all, with MSG_CMSG_CLOEXEC, with MSG_WAITALL, peeked at, a socket within itself.
 *: native
 */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guest.h"

enum { MOST = 8 };

static void give(int s, const char *text, const int *fds, int count)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int) * MOST)];
	char copy[20];
	struct iovec v = {copy, (size_t)snprintf(copy, sizeof(copy), "%s", text)};
	struct msghdr m = {.msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)count)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)count);
	memcpy(CMSG_DATA(c), fds, sizeof(int) * (size_t)count);
	MUST(sendmsg(s, &m, 0));
}

static int take(const char *name, int s, size_t bytes, int room_for, int flags, int *fds)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int) * MOST)];
	char room[100] = "";
	struct iovec v[2] = {{room, bytes / 2}, {room + bytes / 2, bytes - bytes / 2}};
	struct msghdr m = {.msg_iov = v,
		.msg_iovlen = 2,
		.msg_control = control,
		.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)room_for)};
	ssize_t n = recvmsg(s, &m, flags);
	const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int count = 0;

	if (n >= 0 && c && c->cmsg_type == SCM_RIGHTS) {
		count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(c), sizeof(int) * (size_t)count);
	}
	printf("%s: %zd '%s', %d descriptors, flags %x\n", name, n, room, count,
		(unsigned)m.msg_flags);
	return count;
}

static void slowly(int s, const int *fds)
{
	give(s, "abc", fds, 1);
	usleep(50000);
	MUST(write(s, "def", 3));
	usleep(50000);
	give(s, "gh", fds + 1, 1);
	usleep(50000);
	MUST(write(s, "ij", 2));
	_exit(0);
}

int main(void)
{
	int s[2], p[2], got[MOST], file = MUST(open("file", O_CREAT | O_RDWR, 0644));
	char text[20] = "";

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	MUST(pipe(p));
	if (MUST(fork()) == 0) {
		give(s[1], "pipe", &p[1], 1);
		_exit(0);
	}
	close(p[1]);
	take("from a child", s[0], 20, 1, 0, got);
	MUST(wait(NULL));
	MUST(write(got[0], "hello", 5));
	close(got[0]);
	tell("through it", read(p[0], text, sizeof(text)));
	tell("the end", read(p[0], text, sizeof(text)));
	give(s[1], "three", (int[]){file, file, p[0]}, 3);
	take("room for two", s[0], 20, 2, MSG_CMSG_CLOEXEC, got);
	tell("close on exec", fcntl(got[0], F_GETFD));
	give(s[1], "x", &file, 1);
	take("no room", s[0], 20, 0, 0, got);
	give(s[1], "peek", &file, 1);
	take("peeked", s[0], 20, 2, MSG_PEEK, got);
	take("taken", s[0], 20, 2, 0, got);
	give(s[1], "one", &file, 1);
	MUST(write(s[1], "two", 3));
	take("not beyond it", s[0], 6, 2, 0, got);
	take("the rest", s[0], 6, 2, 0, got);
	if (MUST(fork()) == 0)
		slowly(s[1], (int[]){file, p[0]});
	take("all of 3", s[0], 3, 2, MSG_WAITALL, got);
	take("all of 6", s[0], 6, 2, MSG_WAITALL, got);
	take("all of 1", s[0], 1, 2, MSG_WAITALL, got);
	MUST(wait(NULL));
	take("what is left", s[0], 6, 2, MSG_DONTWAIT, got);
	give(s[1], "a socket", &s[0], 1);
	take("within itself", s[0], 20, 1, 0, got);
	give(s[0], "back", &s[1], 1);
	close(s[1]);
	return 0;
}
