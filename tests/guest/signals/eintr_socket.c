/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signal while a call waits for a socket, without and with a time-out of the socket's own.
 *: native
 *: long
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "eintr.h"

static int pair[2], listener, caller;
static struct sockaddr_un address;
static char block[65536];

static void talk(void)
{
	if (send(pair[1], "abc", 3, 0) != 3)
		_exit(1);
}

static void knock(void)
{
	caller = socket(AF_UNIX, SOCK_STREAM, 0);
	if (connect(caller, (struct sockaddr *)&address, sizeof(address)) < 0)
		_exit(1);
}

static void take_some(void)
{
	while (recv(pair[1], block, sizeof(block), MSG_DONTWAIT) > 0)
		continue;
}

static void reset(void)
{
	while (recv(pair[0], block, sizeof(block), MSG_DONTWAIT) > 0)
		continue;
	while (send(pair[0], block, 4096, MSG_DONTWAIT) > 0)
		continue;
}

static long receive(int flags)
{
	char text[3];

	return recv(pair[0], text, sizeof(text), flags);
}

static long receive_message(void)
{
	char text[3];
	struct iovec v = {text, sizeof(text)};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};

	return recvmsg(pair[0], &m, 0);
}

static long receive_messages(void)
{
	char text[3];
	struct iovec v = {text, sizeof(text)};
	struct mmsghdr m = {.msg_hdr = {.msg_iov = &v, .msg_iovlen = 1}};

	return recvmmsg(pair[0], &m, 1, 0, NULL);
}

static long read_it(void)
{
	char text[3];

	return read(pair[0], text, sizeof(text));
}

static long send_it(void)
{
	return send(pair[0], block, 4096, 0);
}

static long write_it(void)
{
	return write(pair[0], block, 4096);
}

static long send_message(void)
{
	struct iovec v = {block, 4096};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};

	return sendmsg(pair[0], &m, 0);
}

static long accept_one(int flags)
{
	int fd = accept4(listener, NULL, NULL, flags);

	if (fd >= 0)
		close(fd);
	return fd;
}

static void all(void)
{
	EINTR_TRY("recv", talk, receive(0));
	EINTR_TRY("recv MSG_WAITALL", talk, receive(MSG_WAITALL));
	EINTR_TRY("recvmsg", talk, receive_message());
	EINTR_TRY("recvmmsg", talk, receive_messages());
	EINTR_TRY("read", talk, read_it());
	EINTR_TRY("send", take_some, send_it());
	EINTR_TRY("write", take_some, write_it());
	EINTR_TRY("sendmsg", take_some, send_message());
	EINTR_TRY("accept", knock, accept_one(0));
}

int main(void)
{
	const struct timeval long_time = {5, 0};

	address.sun_family = AF_UNIX;
	strcpy(address.sun_path + 1, "the-door");
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 ||
		bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
		listen(listener, 5) < 0)
		return 1;
	eintr_before = reset;
	all();
	puts("with a time-out");
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &long_time, sizeof(long_time));
	setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &long_time, sizeof(long_time));
	setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &long_time, sizeof(long_time));
	all();
	return 0;
}
