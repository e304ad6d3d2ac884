/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that sandboxes itself with libseccomp: a list of what is allowed, by argument too.
 *: native
 *: long
 */
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const int allowed[] = {SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(close), SCMP_SYS(fstat),
	SCMP_SYS(newfstatat), SCMP_SYS(exit_group), SCMP_SYS(brk), SCMP_SYS(mmap), SCMP_SYS(munmap),
	SCMP_SYS(lseek), SCMP_SYS(pipe2), SCMP_SYS(clock_nanosleep)};

static void tell(const char *what, long r)
{
	printf("%s: %s\n", what, r < 0 ? strerrorname_np(errno) : "done");
	fflush(stdout);
}

int main(void)
{
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(EACCES));
	const struct timespec nap = {2, 0};
	int fds[2];
	char byte;

	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++)
		seccomp_rule_add(context, SCMP_ACT_ALLOW, allowed[i], 0);
	/* The access mode of open is its third argument. */
	seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
		SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE, O_RDONLY));
	printf("load %d\n", seccomp_load(context));
	tell("open to read", open("/etc/passwd", O_RDONLY));
	tell("open to write", open("file", O_WRONLY | O_CREAT, 0600));
	tell("socket", socket(AF_INET, SOCK_STREAM, 0));
	tell("pipe2", pipe2(fds, 0));
	tell("write", write(fds[1], "x", 1));
	tell("read", read(fds[0], &byte, 1));
	tell("fork", fork());
	tell("sleep", -(clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL) != 0));
	return 0;
}
