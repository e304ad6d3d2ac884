/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sendfile into a pipe and a socket whose readers are slow, with and without an offset.
 *: native
 *: long
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../guest.h"

enum { SIZE = 2 << 20 };

static int ends[2];

static void *drain(void *unused)
{
	static char room[10000];
	long all = 0;
	ssize_t n;

	usleep(50000);
	while ((n = MUST(read(ends[0], room, sizeof(room)))) > 0)
		all += n;
	printf("%ld read\n", all);
	return unused;
}

static void send_all(const char *name, int file, off_t *offset)
{
	pthread_t thread;
	long all = 0;

	pthread_create(&thread, NULL, drain, NULL);
	while (all < SIZE)
		all += MUST(sendfile(ends[1], file, offset, SIZE - (size_t)all));
	close(ends[1]);
	pthread_join(thread, NULL);
	printf("%s: %ld sent, position %ld\n", name, all, (long)MUST(lseek(file, 0, SEEK_CUR)));
}

int main(void)
{
	int file = MUST(open("file", O_CREAT | O_RDWR, 0644)), out;
	off_t offset = 0;

	MUST(ftruncate(file, SIZE));
	MUST(pipe(ends));
	send_all("pipe", file, NULL);
	MUST(pipe(ends));
	send_all("pipe with an offset", file, &offset);
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	offset = 0;
	send_all("socket", file, &offset);
	out = MUST(open("out", O_CREAT | O_RDWR, 0644));
	offset = 100;
	tell("to a file", sendfile(out, file, &offset, 1000));
	printf("offset %ld\n", (long)offset);
	tell("at the end", sendfile(out, file, NULL, 1000));
	MUST(pipe(ends));
	tell("from a pipe", sendfile(out, ends[0], NULL, 10));
	tell("append", sendfile(MUST(open("out", O_WRONLY | O_APPEND)), file, &offset, 10));
	return 0;
}
