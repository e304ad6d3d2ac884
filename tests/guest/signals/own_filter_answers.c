/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program's own seccomp filter: errors, traps with their siginfo, the stricter of two, inherited
 * by fork and exec, and what waits still waits.
 *: native
 *: rootless
 */
#include <errno.h>
#include <signal.h>
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

static void trapped(int sig, siginfo_t *info, void *context)
{
	(void)context;
	printf("signal %d code %d errno %d call is %s\n", sig, info->si_code, info->si_errno,
		info->si_syscall == SYS_getpgid ? "getpgid" : "another");
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};
	const struct timespec nap = {0, 1000000};
	int fds[2], status;
	char byte = 0;

	if (argc > 1) {
		tell("after exec", getppid() > 0 ? syscall(SYS_getsid, 0) : 0);
		printf("mode %d\n", prctl(PR_GET_SECCOMP));
		return 0;
	}
	printf("mode %d\n", prctl(PR_GET_SECCOMP));
	tell("before", syscall(SYS_getsid, 0));
	tell("filter", own_filter(SYS_getsid, SECCOMP_RET_ERRNO | EXDEV, 0));
	printf("mode %d\n", prctl(PR_GET_SECCOMP));
	tell("refused", syscall(SYS_getsid, 0));
	tell("a second one", own_filter(SYS_getsid, SECCOMP_RET_ALLOW, 0));
	tell("still refused", syscall(SYS_getsid, 0));
	sigaction(SIGSYS, &action, NULL);
	tell("a trap", own_filter(SYS_getpgid, SECCOMP_RET_TRAP | 77, 0));
	syscall(SYS_getpgid, 0);
	tell("of a mediated call", own_filter(SYS_uname, SECCOMP_RET_ERRNO | ENOTTY, 0));
	tell("refused", syscall(SYS_uname, NULL));
	/* Everything else goes on as before. */
	if (pipe(fds) < 0)
		return 1;
	if (fork() == 0) {
		nanosleep(&nap, NULL);
		tell("in a child", syscall(SYS_getsid, 0));
		_exit(write(fds[1], "x", 1) == 1 ? 0 : 1);
	}
	printf("read waits: %zd\n", read(fds[0], &byte, 1));
	wait(&status);
	fflush(stdout);
	execl(argv[0], argv[0], "again", NULL);
	return 1;
}
