/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A limit on CPU time is kept, inherited and lowered as the kernel's is. Computing takes no
 * time, so it is not reached.
 *: long
 *: out soft 1, hard 3600
 *: out child: soft 1, hard 3600
 *: out raised hard: -1 EPERM
 *: out soft above hard: -1 EINVAL
 *: out other: soft 1, hard 3600
 *: out computed
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *who)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_CPU, &limit) != 0)
		exit(1);
	printf("%ssoft %lld, hard %lld\n", who, (long long)limit.rlim_cur,
		(long long)limit.rlim_max);
	fflush(stdout);
}

static void try(const char *what, rlim_t soft, rlim_t hard)
{
	struct rlimit limit = {soft, hard};
	int r = setrlimit(RLIMIT_CPU, &limit);

	printf("%s: %d %s\n", what, r, r == 0 ? "" : errno == EPERM ? "EPERM" : "EINVAL");
}

int main(void)
{
	struct rlimit limit = {1, 3600};
	unsigned x = 1;
	pid_t pid;

	if (setrlimit(RLIMIT_CPU, &limit) != 0)
		return 1;
	show("");
	pid = fork();
	if (pid == 0) {
		show("child: ");
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	try("raised hard", 1, 3601);
	try("soft above hard", 5, 4);
	if (prlimit(getpid(), RLIMIT_CPU, NULL, &limit) != 0)
		return 1;
	printf("other: soft %lld, hard %lld\n", (long long)limit.rlim_cur,
		(long long)limit.rlim_max);
	for (unsigned i = 0; i < 1500000000; i++)
		x = x * 1103515245 + 12345;
	puts(x == 1 ? "no work was done" : "computed");
	return 0;
}
