/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scattered writes larger than the pipe: all of it arrives in order, the count is whole; a write up
 * to PIPE_BUF is never split among writers.
 *: native
 *: long
 */
#include <limits.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../guest.h"

static int p[2];

static void *write_some(void *letter)
{
	char text[PIPE_BUF];

	memset(text, *(char *)letter, sizeof(text));
	for (int i = 0; i < 40; i++)
		MUST(write(p[1], text, sizeof(text)));
	return NULL;
}

static void *write_scattered(void *ret)
{
	static char parts[300][1000];
	struct iovec v[300];

	for (int i = 0; i < 300; i++) {
		memset(parts[i], i, sizeof(parts[i]));
		v[i] = (struct iovec){parts[i], sizeof(parts[i])};
	}
	*(long *)ret = MUST(writev(p[1], v, 300));
	close(p[1]);
	return NULL;
}

int main(void)
{
	char letters[3] = "abc", room[PIPE_BUF];
	int mixed = 0, counts[3] = {0};
	pthread_t threads[3];
	long written = 0, all = 0;
	ssize_t n;

	MUST(pipe(p));
	pthread_create(&threads[0], NULL, write_scattered, &written);
	while ((n = MUST(read(p[0], room, sizeof(room)))) > 0)
		for (ssize_t i = 0; i < n; i++, all++)
			mixed += room[i] != (char)(all / 1000);
	pthread_join(threads[0], NULL);
	printf("%ld written, %ld read, %d wrong\n", written, all, mixed);
	MUST(pipe(p));
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, write_some, &letters[i]);
	for (int i = 0; i < 120; i++) {
		for (ssize_t got = 0; got < PIPE_BUF; got += n)
			n = MUST(read(p[0], room + got, (size_t)(PIPE_BUF - got)));
		for (int k = 1; k < PIPE_BUF; k++)
			mixed += room[k] != room[0];
		counts[room[0] - 'a']++;
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("%d mixed, %d %d %d\n", mixed, counts[0], counts[1], counts[2]);
	return 0;
}
