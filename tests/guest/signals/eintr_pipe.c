/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signal while a call waits for a pipe.
 *: native
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "eintr.h"

static int empty[2], full[2], target[2];
static char block[65536];

static void fill(void)
{
	if (write(empty[1], "abcdefgh", 8) != 8)
		_exit(1);
}

static void drain(void)
{
	if (read(full[0], block, sizeof(block)) < 0)
		_exit(1);
}

/* What one try left behind must not end the next at once. */
static void reset(void)
{
	fcntl(empty[0], F_SETFL, O_NONBLOCK);
	while (read(empty[0], block, sizeof(block)) > 0)
		continue;
	fcntl(empty[0], F_SETFL, 0);
	fcntl(target[0], F_SETFL, O_NONBLOCK);
	while (read(target[0], block, sizeof(block)) > 0)
		continue;
	fcntl(full[1], F_SETFL, O_NONBLOCK);
	while (write(full[1], block, 4096) > 0)
		continue;
	fcntl(full[1], F_SETFL, 0);
}

static long splice_some(void)
{
	return splice(empty[0], NULL, target[1], NULL, 8, 0);
}

static long tee_some(void)
{
	return tee(empty[0], target[1], 8, 0);
}

static long read_some(void)
{
	char byte;

	return read(empty[0], &byte, 1);
}

static long read_scattered(void)
{
	char a, b;
	struct iovec v[2] = {{&a, 1}, {&b, 1}};

	return readv(empty[0], v, 2);
}

static long write_some(size_t len)
{
	return write(full[1], block, len);
}

/* More than the pipe holds: after the first piece the call answers with what it wrote. */
static void write_much(int restart)
{
	int fds[2];
	long n;

	if (pipe(fds) < 0)
		exit(1);
	eintr_arm(restart, NULL);
	n = write(fds[1], (char[200000]){0}, 200000);
	eintr_tell("a write larger than the pipe", restart, n);
	printf("wrote %ld\n", n);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	if (pipe(empty) < 0 || pipe(full) < 0 || pipe(target) < 0)
		return 1;
	eintr_before = reset;
	EINTR_TRY("read", fill, read_some());
	EINTR_TRY("readv", fill, read_scattered());
	EINTR_TRY("write", drain, write_some(1));
	EINTR_TRY("write of a page", drain, write_some(4096));
	EINTR_TRY("splice", fill, splice_some());
	EINTR_TRY("tee", fill, tee_some());
	write_much(0);
	return 0;
}
