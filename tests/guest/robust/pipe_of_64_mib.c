/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 64 MiB through a pipe, checked at the other end.
 *: native
 *: option --timeout
 *: option 120s
 *: long
 *: out 67108864 ok
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TOTAL = 64 << 20, CHUNK = 1 << 20 };

static char data[CHUNK];

static void fill(void)
{
	for (int i = 0; i < CHUNK; i++)
		data[i] = (char)(i * 7 + i / 251);
}

static void give(int fd)
{
	for (long left = TOTAL; left > 0; left -= CHUNK)
		for (ssize_t at = 0, n; at < CHUNK; at += n)
			if ((n = write(fd, data + at, (size_t)(CHUNK - at))) < 0)
				_exit(1);
	_exit(0);
}

int main(void)
{
	static char got[65536];
	int ends[2], status, bad = 0;
	long total = 0;
	ssize_t n;

	fill();
	if (pipe(ends) < 0)
		return 1;
	if (fork() == 0) {
		close(ends[0]);
		give(ends[1]);
	}
	close(ends[1]);
	while ((n = read(ends[0], got, sizeof(got))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			bad += got[i] != data[(total + i) % CHUNK];
		total += n;
	}
	wait(&status);
	printf("%ld %s\n", total, bad || status ? "bad" : "ok");
	return 0;
}
