/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A descriptor whose reads wait is waited for on the logical clock, whatever number it came to and
 * by which way: pipe, socketpair, dup, dup2, fcntl, a message, accept, a table shared by two
 * processes, exec. One that was overlooked would block in the kernel, which the report tells.
 *: native
 *: out pipe: 1
 *: out socketpair: 1
 *: out dup: 1
 *: out dup2: 1
 *: out dup2 of dup2: 1
 *: out F_DUPFD: 1
 *: out F_DUPFD_CLOEXEC: 1
 *: out message: 1
 *: out accept: 1
 *: out shared table: 1
 *: out inherited: 1
 *: out exec: 1
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILLED = 30 };

/* Somebody writes after a while: what read answers when it has waited for that. */
static long read_late(int in, int out)
{
	char byte;
	long n;
	pid_t pid = fork();

	if (pid == 0) {
		usleep(20000);
		_exit(write(out, "x", 1) != 1);
	}
	n = read(in, &byte, 1);
	waitpid(pid, NULL, 0);
	return n;
}

static long by_pipe(void)
{
	int ends[2];

	return pipe(ends) == 0 ? read_late(ends[0], ends[1]) : -1;
}

static long by_socketpair(void)
{
	int ends[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 ? read_late(ends[0], ends[1]) : -1;
}

static long by_dup(void)
{
	int ends[2], files[FILLED];

	if (pipe(ends) != 0)
		return -1;
	for (int i = 0; i < FILLED; i++)
		files[i] = open("/dev/null", O_RDONLY);
	return files[FILLED - 1] < FILLED ? -1 : read_late(dup(ends[0]), ends[1]);
}

static long by_dup2(void)
{
	int ends[2];

	return pipe(ends) == 0 ? read_late(dup2(ends[0], 40), ends[1]) : -1;
}

static long by_dup2_of_dup2(void)
{
	int ends[2];

	return pipe(ends) == 0 ? read_late(dup2(dup2(ends[0], 40), 200), ends[1]) : -1;
}

static long by_fcntl(void)
{
	int ends[2];

	return pipe(ends) == 0 ? read_late(fcntl(ends[0], F_DUPFD, 50), ends[1]) : -1;
}

static long by_fcntl_cloexec(void)
{
	int ends[2];

	return pipe(ends) == 0 ? read_late(fcntl(ends[0], F_DUPFD_CLOEXEC, 9), ends[1]) : -1;
}

static int send_descriptor(int to, int fd)
{
	char byte = 'f', space[CMSG_SPACE(sizeof(fd))] = {0};
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = space,
		.msg_controllen = sizeof(space)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(to, &m, 0) == 1 ? 0 : -1;
}

static int receive_descriptor(int from)
{
	char byte, space[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = space,
		.msg_controllen = sizeof(space)};
	int fd = -1;

	if (recvmsg(from, &m, 0) == 1 && CMSG_FIRSTHDR(&m))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/* The sender holds the writing end; the receiver's low numbers are taken by files. */
static long by_message(void)
{
	int way[2];
	char byte;
	long n;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, way) != 0)
		return -1;
	if (fork() == 0) {
		int ends[2];

		if (pipe(ends) != 0 || send_descriptor(way[1], ends[0]) != 0)
			_exit(1);
		usleep(20000);
		_exit(write(ends[1], "x", 1) != 1);
	}
	for (int i = 0; i < FILLED; i++)
		if (open("/dev/null", O_RDONLY) < 0)
			return -1;
	n = read(receive_descriptor(way[0]), &byte, 1);
	wait(NULL);
	return n;
}

static long by_accept(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "\0mediated"};
	int own = socket(AF_UNIX, SOCK_STREAM, 0);
	char byte;
	long n;

	if (bind(own, (struct sockaddr *)&name, sizeof(name)) != 0 || listen(own, 1) != 0)
		return -1;
	if (fork() == 0) {
		int other = socket(AF_UNIX, SOCK_STREAM, 0);

		if (connect(other, (struct sockaddr *)&name, sizeof(name)) != 0)
			_exit(1);
		usleep(20000);
		_exit(write(other, "x", 1) != 1);
	}
	for (int i = 0; i < FILLED; i++)
		if (open("/dev/null", O_RDONLY) < 0)
			return -1;
	n = read(accept(own, NULL, NULL), &byte, 1);
	wait(NULL);
	return n;
}

static int shared[2];

static int make_pipe(void *unused)
{
	(void)unused;
	return pipe(shared) != 0;
}

static long by_shared_table(void)
{
	static char stack[65536];
	int status = 1;
	pid_t pid = clone(make_pipe, stack + sizeof(stack), CLONE_VM | CLONE_FILES | SIGCHLD, NULL);

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		return -1;
	return read_late(shared[0], shared[1]);
}

static long by_inheritance(void)
{
	int ends[2], status = 0;
	pid_t pid;

	if (pipe(ends) != 0 || dup2(ends[0], 70) < 0)
		return -1;
	pid = fork();
	if (pid == 0)
		_exit((int)read_late(70, ends[1]));
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static long by_exec(void)
{
	int ends[2], status = 0;
	pid_t pid;

	if (pipe(ends) != 0 || dup2(ends[0], 15) < 0 || dup2(ends[1], 1000) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		execl("/proc/self/exe", "exec", "15", "1000", (char *)NULL);
		_exit(9);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static const struct {
	const char *name;
	long (*run)(void);
} ways[] = {
	{"pipe", by_pipe},
	{"socketpair", by_socketpair},
	{"dup", by_dup},
	{"dup2", by_dup2},
	{"dup2 of dup2", by_dup2_of_dup2},
	{"F_DUPFD", by_fcntl},
	{"F_DUPFD_CLOEXEC", by_fcntl_cloexec},
	{"message", by_message},
	{"accept", by_accept},
	{"shared table", by_shared_table},
	{"inherited", by_inheritance},
	{"exec", by_exec},
};

/* Each in a process of its own: a bound only grows. */
int main(int argc, char **argv)
{
	if (argc == 3)
		return (int)read_late(atoi(argv[1]), atoi(argv[2]));
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		pid_t pid = fork();

		if (pid == 0) {
			printf("%s: %ld\n", ways[i].name, ways[i].run());
			return 0;
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}
