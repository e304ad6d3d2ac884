/* SPDX-License-Identifier: Apache-2.0 */
/* File locks of three kinds, held and waited for; FIFOs, eventfds and inotify as meeting points. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct timespec start;

static void say(const char *what, long result)
{
	const int error = errno;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%s: %ld%s%s at %.3f\n", what, result, result < 0 ? " " : "",
		result < 0 ? strerror(error) : "",
		(double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9);
}

enum kind { FLOCK, POSIX, DESCRIPTION };

static int lock(int fd, enum kind kind, int wait, int on)
{
	struct flock l = {
		.l_type = (short)(on ? F_WRLCK : F_UNLCK), .l_whence = SEEK_SET, .l_len = 10};

	if (kind == FLOCK)
		return flock(fd, on ? LOCK_EX | (wait ? 0 : LOCK_NB) : LOCK_UN);
	if (kind == POSIX)
		return fcntl(fd, wait ? F_SETLKW : F_SETLK, &l);
	return fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &l);
}

static void contend(enum kind kind, const char *name)
{
	printf("%s\n", name);
	for (int i = 0; i < 4; i++)
		if (fork() == 0) {
			const int fd = open("lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
			char what[32];

			snprintf(what, sizeof(what), "  %d holds", i);
			say(what, lock(fd, kind, 1, 1));
			sleep(1 + (unsigned)i);
			if (i % 2)
				lock(fd, kind, 0, 0);
			else
				close(fd);
			usleep(10);
			_exit(0);
		}
	usleep(500000);
	const int fd = open("lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	say("  try", lock(fd, kind, 0, 1));
	say("  wait", lock(fd, kind, 1, 1));
	lock(fd, kind, 0, 0);
	while (wait(NULL) > 0)
		continue;
	close(fd);
}

static void fifos(void)
{
	char buf[100];
	ssize_t n;

	if (mkfifo("fifo", 0600))
		say("mkfifo", -1);
	for (int round = 0; round < 2; round++) {
		if (fork() == 0) {
			if (round == 0)
				sleep(2);
			const int fd = open("fifo", O_WRONLY);

			say("  writer is in", fd < 0 ? -1 : 0);
			sleep(1);
			_exit(write(fd, "through", 7) == 7 ? 0 : 1);
		}
		if (round == 1)
			sleep(2);
		const int fd = open("fifo", O_RDONLY);
		say("  reader is in", fd < 0 ? -1 : 0);
		n = read(fd, buf, sizeof(buf));
		say("  read", n);
		say("  end", read(fd, buf, sizeof(buf)));
		close(fd);
		wait(NULL);
	}
	say("  nobody reads", open("fifo", O_WRONLY | O_NONBLOCK));
	unlink("fifo");
}

static void counters(void)
{
	const int fd = eventfd(0, 0), turns = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);
	uint64_t value = UINT64_MAX - 2;

	if (fork() == 0) {
		if (write(fd, &value, sizeof(value)) != 8)
			_exit(1);
		value = 5;
		say("  second write", write(fd, &value, sizeof(value)));
		_exit(0);
	}
	sleep(3);
	for (int i = 0; i < 2; i++) {
		say("  read", read(fd, &value, sizeof(value)));
		printf("  value %llu\n", (unsigned long long)value);
	}
	for (int i = 0; i < 3; i++)
		say("  turn", read(turns, &value, sizeof(value)));
	wait(NULL);
}

static void changes(void)
{
	char buf[4096];
	const int fd = inotify_init1(IN_CLOEXEC);

	inotify_add_watch(fd, ".", IN_CREATE | IN_MOVE);
	if (fork() == 0) {
		sleep(4);
		close(open("made", O_CREAT | O_WRONLY, 0600));
		rename("made", "moved");
		unlink("moved");
		_exit(0);
	}
	const ssize_t n = read(fd, buf, sizeof(buf));
	say("  changes", n);
	for (ssize_t at = 0; at < n;) {
		struct inotify_event e;

		memcpy(&e, buf + at, sizeof(e));
		printf("  %#x %u %s\n", e.mask, e.cookie, buf + at + sizeof(e));
		at += (ssize_t)(sizeof(e) + e.len);
	}
	wait(NULL);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	clock_gettime(CLOCK_MONOTONIC, &start);
	contend(FLOCK, "flock");
	contend(POSIX, "posix");
	contend(DESCRIPTION, "description");
	printf("fifo\n");
	fifos();
	printf("eventfd\n");
	counters();
	printf("inotify\n");
	changes();
	return 0;
}
