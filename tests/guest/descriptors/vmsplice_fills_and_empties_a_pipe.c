/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmsplice in both directions: what fits, waiting for a full and for an empty pipe.
 *: native
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../guest.h"

static int p[2];
static char big[1 << 20] __attribute__((aligned(4096)));

static void *drain(void *ret)
{
	static char room[65536];
	ssize_t n;
	long *all = ret;

	usleep(50000);
	while ((n = MUST(read(p[0], room, sizeof(room)))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			if (room[i] != (char)((*all + i) >> 12))
				puts("another byte");
		*all += n;
	}
	return NULL;
}

static void *later(void *unused)
{
	usleep(50000);
	MUST(write(p[1], "hello world", 11));
	return unused;
}

int main(void)
{
	struct iovec v[2] = {{big, 6}, {big + 100, 100}};
	pthread_t thread;
	long all = 0, given = 0;

	MUST(pipe(p));
	pthread_create(&thread, NULL, later, NULL);
	tell("taken", vmsplice(p[0], v, 2, 0));
	pthread_join(thread, NULL);
	printf("%.6s|%.5s\n", big, big + 100);
	tell("nothing", vmsplice(p[0], v, 1, SPLICE_F_NONBLOCK));
	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (char)(i >> 12);
	pthread_create(&thread, NULL, drain, &all);
	while (given < (long)sizeof(big)) {
		v[0] = (struct iovec){big + given, sizeof(big) - (size_t)given};
		given += MUST(vmsplice(p[1], v, 1, 0));
	}
	close(p[1]);
	pthread_join(thread, NULL);
	printf("%ld given, %ld read\n", given, all);
	MUST(pipe(p));
	v[0] = (struct iovec){big, sizeof(big)};
	tell("what fits", vmsplice(p[1], v, 1, SPLICE_F_NONBLOCK));
	tell("full", vmsplice(p[1], v, 1, SPLICE_F_NONBLOCK));
	tell("no segments", vmsplice(p[1], v, 0, 0));
	tell("no pipe", vmsplice(MUST(open("/dev/null", O_WRONLY)), v, 1, 0));
	tell("an odd flag", vmsplice(p[1], v, 1, 64));
	return 0;
}
