/* SPDX-License-Identifier: Apache-2.0 */
/* Every way to put more into a pipe or socket than fits: all of it must arrive, in order, once. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 3 << 20 };

static unsigned char *data;

static void die(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static unsigned long fold(unsigned long sum, const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum = sum * 31 + p[i];
	return sum;
}

typedef void send_fn(int fd);

static void by_write(int fd)
{
	if (write(fd, data, SIZE) != SIZE)
		_exit(1);
}

static void by_writev(int fd)
{
	struct iovec v[5];
	size_t at = 0, len[5] = {1, 99999, 0, 1 << 20, 0};

	len[4] = SIZE - 1 - 99999 - (1 << 20);
	for (int i = 0; i < 5; i++) {
		v[i].iov_base = data + at;
		v[i].iov_len = len[i];
		at += len[i];
	}
	if (writev(fd, v, 5) != SIZE)
		_exit(1);
}

static int data_file(void)
{
	const int file = memfd_create("data", 0);

	if (file < 0 || write(file, data, SIZE) != SIZE || lseek(file, 0, SEEK_SET) != 0)
		_exit(2);
	return file;
}

static void by_sendfile(int fd)
{
	const int file = data_file();
	off_t at = 100;

	if (sendfile(fd, file, NULL, 100) != 100)
		_exit(1);
	while (at < SIZE)
		if (sendfile(fd, file, &at, (size_t)(SIZE - at)) <= 0)
			_exit(1);
}

static void by_splice(int fd)
{
	const int file = data_file();
	ssize_t n;

	while ((n = splice(file, NULL, fd, NULL, SIZE, 0)) > 0)
		continue;
	if (n < 0)
		_exit(1);
}

static void by_send(int fd)
{
	struct iovec v = {data + 1000, SIZE - 1000};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};

	if (send(fd, data, 1000, 0) != 1000 || sendmsg(fd, &m, 0) != SIZE - 1000)
		_exit(1);
}

static void transfer(const char *name, send_fn *send_all, int reader, int writer)
{
	static unsigned char buf[50000];
	unsigned long sum = 0, total = 0, reads = 0;
	int status;
	ssize_t n;
	const pid_t child = fork();

	if (child == 0) {
		close(reader);
		send_all(writer);
		_exit(0);
	}
	close(writer);
	while ((n = read(reader, buf, sizeof(buf))) > 0) {
		sum = fold(sum, buf, (size_t)n);
		total += (unsigned long)n;
		reads++;
	}
	close(reader);
	waitpid(child, &status, 0);
	printf("%s: %lu bytes %s in %lu reads, status %d\n", name, total,
		sum == fold(0, data, SIZE) ? "right" : "WRONG", reads, status);
}

static void pipe_transfer(const char *name, send_fn *send_all)
{
	int ends[2];

	if (pipe(ends))
		die("pipe");
	transfer(name, send_all, ends[0], ends[1]);
}

static void unix_transfer(const char *name, send_fn *send_all)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		die("socketpair");
	transfer(name, send_all, ends[0], ends[1]);
}

static void ping_pong(void)
{
	int there[2], back[2];
	char c = 0;

	if (pipe(there) || pipe(back))
		die("pipe");
	if (fork() == 0) {
		for (int i = 0; i < 1000; i++)
			if (read(there[0], &c, 1) != 1 || write(back[1], &c, 1) != 1)
				_exit(1);
		_exit(0);
	}
	for (int i = 0; i < 1000; i++)
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			die("ping");
	wait(NULL);
	printf("ping-pong done\n");
}

static void on_pipe(int sig)
{
	(void)sig;
	if (write(1, "SIGPIPE\n", 8) < 0)
		_exit(3);
}

/* The reader takes a little and goes: the writer gets its partial count and the signal. */
static void broken_late(void)
{
	int ends[2];
	char buf[10000];

	if (pipe(ends))
		die("pipe");
	signal(SIGPIPE, on_pipe);
	fflush(stdout);
	if (fork() == 0) {
		close(ends[1]);
		_exit(read(ends[0], buf, sizeof(buf)) == sizeof(buf) ? 0 : 1);
	}
	close(ends[0]);
	const ssize_t n = write(ends[1], data, SIZE);
	printf("partly written: %zd, then %zd\n", n, write(ends[1], data, 1));
	wait(NULL);
	close(ends[1]);
}

/* A signal in the middle of a large write: the count so far. */
static void interrupted(void)
{
	int ends[2];
	struct sigaction act = {.sa_handler = on_pipe, .sa_flags = SA_RESTART};

	if (pipe(ends))
		die("pipe");
	sigaction(SIGALRM, &act, NULL);
	alarm(2);
	printf("interrupted write: %zd\n", write(ends[1], data, SIZE));
	close(ends[0]);
	close(ends[1]);
}

/* splice(2) refuses such a file, and it stays what it is. */
static void into_appended(void)
{
	const int file = open("appended", O_WRONLY | O_CREAT | O_APPEND, 0600);
	int ends[2];

	if (file < 0 || pipe(ends) || write(ends[1], "x", 1) != 1)
		die("pipe");
	printf("splice to append: %zd", splice(ends[0], NULL, file, NULL, 1, 0));
	printf(" %s, %s\n", strerror(errno),
		fcntl(file, F_GETFL) & O_APPEND ? "still appends" : "appends no more");
	close(ends[0]);
	close(ends[1]);
	close(file);
}

static void non_blocking(void)
{
	int ends[2];
	char buf[4096];
	ssize_t n, total = 0;

	if (pipe2(ends, O_NONBLOCK))
		die("pipe2");
	n = read(ends[0], buf, 1);
	printf("empty: %zd %s\n", n, strerror(errno));
	while ((n = write(ends[1], buf, sizeof(buf))) > 0)
		total += n;
	printf("full at %zd: %s\n", total, strerror(errno));
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	data = malloc(SIZE);
	if (!data)
		return 1;
	for (size_t i = 0; i < SIZE; i++)
		data[i] = (unsigned char)(i * 7 + i / 251);
	pipe_transfer("pipe write", by_write);
	pipe_transfer("pipe writev", by_writev);
	pipe_transfer("pipe sendfile", by_sendfile);
	pipe_transfer("pipe splice", by_splice);
	unix_transfer("unix write", by_write);
	unix_transfer("unix writev", by_writev);
	unix_transfer("unix send", by_send);
	unix_transfer("unix sendfile", by_sendfile);
	ping_pong();
	broken_late();
	interrupted();
	non_blocking();
	into_appended();
	return 0;
}
