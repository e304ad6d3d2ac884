/* SPDX-License-Identifier: Apache-2.0 */
/*
 * splice from a file through a pipe into a file and into a socket, far beyond the room of either.
 *: native
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../guest.h"

enum { SIZE = 3 << 20 };

static int pipes[2], pair[2];

static void *feed(void *file)
{
	loff_t at = 0;

	while (at < SIZE)
		MUST(splice(*(int *)file, &at, pipes[1], NULL, SIZE - (size_t)at, SPLICE_F_MORE));
	close(pipes[1]);
	return NULL;
}

static unsigned long sum_of(int fd)
{
	static unsigned char room[65536];
	unsigned long sum = 5381;
	ssize_t n;

	while ((n = MUST(read(fd, room, sizeof(room)))) > 0)
		for (ssize_t i = 0; i < n; i++)
			sum = sum * 33 + room[i];
	return sum;
}

static void *sum_socket(void *ret)
{
	*(unsigned long *)ret = sum_of(pair[1]);
	return NULL;
}

int main(void)
{
	static unsigned char room[65536];
	int in = MUST(open("in", O_CREAT | O_RDWR, 0644)),
	    out = MUST(open("out", O_CREAT | O_RDWR, 0644));
	unsigned long sum;
	pthread_t thread, other;
	ssize_t n;

	for (int i = 0; i < SIZE; i += (int)sizeof(room)) {
		for (size_t k = 0; k < sizeof(room); k++)
			room[k] = (unsigned char)((i >> 8) + (int)(k * k));
		MUST(write(in, room, sizeof(room)));
	}
	MUST(lseek(in, 0, SEEK_SET));
	sum = sum_of(in);
	MUST(pipe(pipes));
	pthread_create(&thread, NULL, feed, &in);
	while ((n = MUST(splice(pipes[0], NULL, out, NULL, 1 << 20, 0))) > 0)
		;
	pthread_join(thread, NULL);
	printf("%ld in the file\n", (long)MUST(lseek(out, 0, SEEK_CUR)));
	MUST(lseek(out, 0, SEEK_SET));
	printf("the same: %d\n", sum == sum_of(out));
	close(pipes[0]);
	MUST(pipe(pipes));
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	pthread_create(&thread, NULL, feed, &in);
	pthread_create(&other, NULL, sum_socket, &room);
	for (long all = 0; all < SIZE; all += n)
		n = MUST(splice(pipes[0], NULL, pair[0], NULL, 1 << 20, 0));
	MUST(shutdown(pair[0], SHUT_WR));
	pthread_join(thread, NULL);
	pthread_join(other, NULL);
	memcpy(&n, room, sizeof(n));
	printf("the same: %d\n", sum == (unsigned long)n);
	tell("no pipe", splice(in, NULL, out, NULL, 10, 0));
	tell("offset of a pipe", splice(pipes[0], &(loff_t){0}, out, NULL, 10, 0));
	return 0;
}
