/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A unix stream: writes far beyond the buffer arrive whole, by write, writev, sendmsg and sendfile.
 *: native
 *: long
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../guest.h"

enum { SIZE = 2 << 20 };

static int pair[2];
static char data[SIZE];

static void *send_all(void *unused)
{
	struct iovec v[2] = {{data, SIZE / 3}, {data + SIZE / 3, SIZE - SIZE / 3}};
	struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};
	int file = MUST(open("file", O_CREAT | O_RDWR, 0644));

	tell("write", write(pair[0], data, SIZE));
	tell("writev", writev(pair[0], v, 2));
	tell("sendmsg", sendmsg(pair[0], &m, 0));
	tell("send", send(pair[0], data, SIZE, MSG_NOSIGNAL));
	MUST(write(file, data, SIZE));
	tell("sendfile", sendfile(pair[0], file, &(off_t){0}, SIZE));
	close(pair[0]);
	return unused;
}

int main(void)
{
	static char room[50000];
	pthread_t thread;
	long all = 0, wrong = 0;
	ssize_t n;

	for (int i = 0; i < SIZE; i++)
		data[i] = (char)(i * 7 + (i >> 9));
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	pthread_create(&thread, NULL, send_all, NULL);
	while ((n = MUST(read(pair[1], room, sizeof(room)))) > 0)
		for (ssize_t i = 0; i < n; i++, all++)
			wrong += room[i] != data[all % SIZE];
	pthread_join(thread, NULL);
	printf("%ld read, %ld wrong\n", all, wrong);
	return 0;
}
