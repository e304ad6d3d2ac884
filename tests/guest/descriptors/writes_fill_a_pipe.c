/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocking writes of many sizes into a pipe that is emptied late: each waits when it does not fit,
 * also when its number came to be another pipe's in between. One that was let go on although the
 * pipe was full would block in the kernel, which the report tells.
 *: native
 *: out 1: 70000 bytes, sum as written
 *: out 3: 70000 bytes, sum as written
 *: out 1000: 200000 bytes, sum as written
 *: out 4095: 200000 bytes, sum as written
 *: out 4096: 200000 bytes, sum as written
 *: out 4097: 200000 bytes, sum as written
 *: out 10240: 200000 bytes, sum as written
 *: out 65536: 200000 bytes, sum as written
 *: out 70000: 200000 bytes, sum as written
 *: out mixed: 200000 bytes, sum as written
 *: out other pipe, by dup2: waited
 *: out other pipe, by close and dup: waited
 *: out FIFO, by close and open: waited
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TOTAL = 200000, FEW = 70000, FULL = 65536, LARGEST = 70000 };

static char data[LARGEST];

static int size_of(int size, int turn)
{
	static const int mixed[] = {1, 4095, 2, 4096, 10240, 3, 2048, 2048, 5000, 60000};

	return size ? size : mixed[turn % 10];
}

static int write_all(int out, int size)
{
	int total = size == 1 || size == 3 ? FEW : TOTAL; /* just over what a pipe holds */
	struct stat st;

	for (int done = 0, turn = 0; done < total; turn++) {
		int n = size_of(size, turn);

		n = n < total - done ? n : total - done;
		for (int i = 0; i < n; i++)
			data[i] = (char)(done + i);
		if (write(out, data, (size_t)n) != n || (turn % 16 == 0 && fstat(out, &st) != 0))
			return 1;
		done += n;
	}
	return 0;
}

/* Every now and then, and at first not at all, so that the pipe is full most of the time. */
static void read_late(const char *name, int in)
{
	static char chunk[9000];
	long got = 0;
	int good = 1;
	ssize_t n;

	do {
		usleep(1000);
		n = read(in, chunk, sizeof(chunk));
		for (ssize_t i = 0; i < n; i++)
			good = good && chunk[i] == (char)(got + i);
		got += n > 0 ? n : 0;
	} while (n > 0);
	printf("%s: %ld bytes, sum %s\n", name, got, good ? "as written" : "wrong");
}

static void sizes(const char *name, int size)
{
	int ends[2];

	if (pipe(ends) != 0)
		exit(1);
	if (fork() == 0) {
		close(ends[0]);
		_exit(write_all(ends[1], size));
	}
	close(ends[1]);
	read_late(name, ends[0]);
	close(ends[0]);
	wait(NULL);
}

/* Somebody else empties what is full, after a while. */
static void empty_later(int in)
{
	static char chunk[FULL];

	if (fork() == 0) {
		usleep(20000);
		_exit(read(in, chunk, FULL) <= 0);
	}
}

static void tell(const char *name, int out)
{
	int good = write(out, "x", 1) == 1;

	wait(NULL);
	printf("%s: %s\n", name, good ? "waited" : "failed");
}

enum way { BY_DUP2, BY_DUP, BY_OPEN };

/* A pipe with room is written to, then its number becomes that of a full one. */
static void swap(const char *name, enum way way)
{
	int roomy[2], full[2];

	if (pipe(roomy) != 0 || pipe(full) != 0)
		exit(1);
	if (way == BY_OPEN) {
		close(full[0]);
		close(full[1]);
		if (mkfifo("full", 0600) != 0)
			exit(1);
		full[0] = open("full", O_RDWR);
		full[1] = dup(full[0]);
	}
	if (write(full[1], data, FULL) != FULL)
		exit(1);
	empty_later(full[0]);
	if (write(roomy[1], "x", 1) != 1 || write(roomy[1], "x", 1) != 1)
		exit(1);
	if (way == BY_DUP2) {
		dup2(full[1], roomy[1]);
	} else {
		int free = roomy[1];

		for (int fd = 0; fd < free; fd++) /* it is to be the lowest */
			if (fcntl(fd, F_GETFD) < 0)
				free = -1;
		close(roomy[1]);
		if (free < 0 || (way == BY_DUP ? dup(full[1]) : open("full", O_WRONLY)) != roomy[1])
			exit(1);
	}
	tell(name, roomy[1]);
}

static void in_a_process(void (*run)(const char *, int), const char *name, int argument)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		run(name, argument);
		exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void swap_by(const char *name, int way)
{
	swap(name, (enum way)way);
}

int main(void)
{
	static const int each[] = {1, 3, 1000, 4095, 4096, 4097, 10240, 65536, 70000};
	char name[16];

	for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		snprintf(name, sizeof(name), "%d", each[i]);
		in_a_process(sizes, name, each[i]);
	}
	in_a_process(sizes, "mixed", 0);
	in_a_process(swap_by, "other pipe, by dup2", BY_DUP2);
	in_a_process(swap_by, "other pipe, by close and dup", BY_DUP);
	in_a_process(swap_by, "FIFO, by close and open", BY_OPEN);
	unlink("full");
	return 0;
}
