/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program's own seccomp filter and its threads: of one thread, and with TSYNC of all.
 *: native
 *: long
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "own_filter.h"

static pthread_barrier_t barrier;

static const char *answer(void)
{
	return syscall(SYS_getsid, 0) < 0 ? strerrorname_np(errno) : "done";
}

static void *other(void *unused)
{
	for (int i = 0; i < 3; i++) {
		pthread_barrier_wait(&barrier);
		printf("other: %s\n", answer());
		pthread_barrier_wait(&barrier);
	}
	return unused;
}

static void both(const char *what)
{
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	printf("main, %s: %s\n", what, answer());
}

int main(void)
{
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, other, NULL);
	both("none");
	printf("%ld\n", own_filter(SYS_getsid, SECCOMP_RET_ERRNO | EXDEV, 0));
	both("of main alone");
	printf("%ld\n",
		own_filter(SYS_getsid, SECCOMP_RET_ERRNO | EBADF, SECCOMP_FILTER_FLAG_TSYNC));
	both("of all");
	pthread_join(thread, NULL);
	return 0;
}
