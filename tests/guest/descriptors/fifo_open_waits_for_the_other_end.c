/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a FIFO: readers wait for writers and the other way round, O_NONBLOCK does not wait,
 * O_RDWR needs nobody, and end of file comes with the last writer.
 *: native
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../guest.h"

static char hello[] = "hello";

static void *write_it(void *text)
{
	int fd;

	usleep(50000);
	fd = MUST(open("fifo", O_WRONLY));
	MUST(write(fd, text, strlen(text)));
	close(fd);
	return NULL;
}

static void *read_it(void *unused)
{
	char room[100];
	int fd;
	ssize_t n;

	usleep(50000);
	fd = MUST(open("fifo", O_RDONLY));
	while ((n = MUST(read(fd, room, sizeof(room)))) > 0)
		printf("read %.*s\n", (int)n, room);
	close(fd);
	return unused;
}

int main(void)
{
	char room[100] = "";
	pthread_t thread;
	int fd, both;

	signal(SIGPIPE, SIG_IGN);
	MUST(mkfifo("fifo", 0644));
	tell("nobody reads", open("fifo", O_WRONLY | O_NONBLOCK));
	fd = MUST(open("fifo", O_RDONLY | O_NONBLOCK));
	tell("nobody writes", read(fd, room, 10));
	both = MUST(open("fifo", O_WRONLY | O_NONBLOCK));
	tell("a writer without data", read(fd, room, 10));
	close(fd);
	tell("reader gone", write(both, "x", 1));
	close(both);
	pthread_create(&thread, NULL, write_it, hello);
	fd = MUST(open("fifo", O_RDONLY));
	tell("read", read(fd, room, sizeof(room)));
	pthread_join(thread, NULL);
	tell("end", read(fd, room, sizeof(room)));
	close(fd);
	pthread_create(&thread, NULL, read_it, NULL);
	fd = MUST(open("fifo", O_WRONLY));
	MUST(write(fd, "world", 5));
	close(fd);
	pthread_join(thread, NULL);
	both = MUST(open("fifo", O_RDWR));
	MUST(write(both, "self", 4));
	tell("to itself", read(both, room, sizeof(room)));
	close(both);
	return 0;
}
