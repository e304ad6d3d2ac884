/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that makes itself non-dumpable is run like any other: it waits, hands over, times out,
 * and says what it set; exec takes that back.
 *: long
 *: native
 *: rootless
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int fds[2];

static void *writes(void *unused)
{
	const struct timespec nap = {0, 20000000};

	nanosleep(&nap, NULL);
	if (write(fds[1], "y", 1) != 1)
		_exit(1);
	return unused;
}

int main(int argc, char **argv)
{
	struct pollfd p;
	pthread_t thread;
	struct utsname name;
	char byte = 0;
	int status;

	printf("%d\n", prctl(PR_GET_DUMPABLE));
	if (argc > 1)
		return 0;
	printf("set %d\n", prctl(PR_SET_DUMPABLE, 0));
	printf("%d\n", prctl(PR_GET_DUMPABLE));
	if (pipe(fds) < 0 || uname(&name) < 0)
		return 1;
	p = (struct pollfd){.fd = fds[0], .events = POLLIN};
	pthread_create(&thread, NULL, writes, NULL);
	printf("poll %d\n", poll(&p, 1, 5000));
	printf("read %zd %c\n", read(fds[0], &byte, 1), byte);
	pthread_join(thread, NULL);
	printf("poll %d\n", poll(&p, 1, 10));
	fflush(stdout);
	if (fork() == 0) {
		printf("child %d\n", prctl(PR_GET_DUMPABLE));
		fflush(stdout);
		raise(SIGTERM);
	}
	wait(&status);
	printf("signal %d\n", WTERMSIG(status));
	printf("odd %d %s\n", prctl(PR_SET_DUMPABLE, 2), "refused");
	fflush(stdout);
	execl(argv[0], argv[0], "again", NULL);
	return 1;
}
