/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tee: the bytes stay in the first pipe; it waits for data, for room, and ends with the writer.
 *: native
 *: long
 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "../guest.h"

static int a[2], b[2];

static void *later(void *unused)
{
	usleep(50000);
	MUST(write(a[1], "hello", 5));
	return unused;
}

static void *drain(void *unused)
{
	char room[65536];
	ssize_t n;

	usleep(50000);
	while ((n = MUST(read(b[0], room, sizeof(room)))) > 0)
		printf("drained %zd\n", n);
	return unused;
}

int main(void)
{
	static char big[65536];
	pthread_t thread;
	char room[16];

	MUST(pipe(a));
	MUST(pipe(b));
	pthread_create(&thread, NULL, later, NULL);
	tell("tee", tee(a[0], b[1], 100, 0));
	pthread_join(thread, NULL);
	tell("first", read(a[0], room, sizeof(room)));
	tell("second", read(b[0], room, sizeof(room)));
	tell("not waiting", tee(a[0], b[1], 100, SPLICE_F_NONBLOCK));
	MUST(write(b[1], big, sizeof(big)));
	MUST(write(a[1], "world", 5));
	tell("no room", tee(a[0], b[1], 100, SPLICE_F_NONBLOCK));
	pthread_create(&thread, NULL, drain, NULL);
	tell("room", tee(a[0], b[1], 100, 0));
	close(b[1]);
	pthread_join(thread, NULL);
	close(a[1]);
	tell("still there", read(a[0], room, sizeof(room)));
	MUST(pipe(b));
	tell("end", tee(a[0], b[1], 100, 0));
	tell("itself", tee(b[0], b[1], 100, 0));
	return 0;
}
