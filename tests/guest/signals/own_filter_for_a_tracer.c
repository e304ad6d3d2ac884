/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A filter that hands calls to a tracer where there is none: they fail, native ones, mediated ones
 * and those that would block; a stricter filter's error still counts, and everything else works.
 *: native
 *: rootless
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "own_filter.h"

static void tell(const char *what, long r)
{
	printf("%s: %s\n", what, r < 0 ? strerrorname_np(errno) : "done");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const struct timespec nap = {0, 1000};
	int fds[2], status = 0;
	char byte = 0;

	if (argc > 1) {
		tell("after exec", syscall(SYS_getsid, 0));
		return 0;
	}
	if (pipe(fds) < 0)
		return 1;
	tell("filter", own_filter(SYS_getsid, SECCOMP_RET_TRACE, 0));
	tell("native", syscall(SYS_getsid, 0));
	tell("filter", own_filter(SYS_uname, SECCOMP_RET_TRACE | 7, 0));
	tell("mediated", syscall(SYS_uname, NULL));
	tell("filter", own_filter(SYS_flock, SECCOMP_RET_TRACE | 0xffff, 0));
	tell("with a descriptor", syscall(SYS_flock, fds[0], 2));
	tell("filter", own_filter(SYS_ppoll, SECCOMP_RET_TRACE | 1, 0));
	tell("that waits", syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0));
	tell("stricter", own_filter(SYS_getsid, SECCOMP_RET_ERRNO | EXDEV, 0));
	tell("native", syscall(SYS_getsid, 0));
	tell("milder", own_filter(SYS_uname, SECCOMP_RET_ALLOW, 0));
	tell("mediated", syscall(SYS_uname, NULL));
	if (fork() == 0) {
		nanosleep(&nap, NULL);
		tell("in a child", syscall(SYS_uname, NULL));
		_exit(write(fds[1], "x", 1) == 1 ? 0 : 1);
	}
	printf("read waits: %zd\n", read(fds[0], &byte, 1));
	wait(&status);
	fflush(stdout);
	execl(argv[0], argv[0], "again", NULL);
	return 1;
}
