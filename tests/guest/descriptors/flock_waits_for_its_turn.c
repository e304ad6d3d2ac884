/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flock: shared and exclusive holders, an upgrade, waiting, release at the last close.
 *: native
 *: long
 */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guest.h"

static void child(int out, int operation, const char *name)
{
	int fd = MUST(open("lock", O_RDWR));

	MUST(flock(fd, operation));
	MUST(write(out, name, 1));
	usleep(100000);
	_exit(0);
}

int main(void)
{
	int fd = MUST(open("lock", O_CREAT | O_RDWR, 0644)), other = MUST(open("lock", O_RDWR));
	int copy = dup(fd), p[2];
	char names[8] = "";

	MUST(pipe(p));
	tell("exclusive", flock(fd, LOCK_EX));
	tell("again", flock(fd, LOCK_EX | LOCK_NB));
	tell("other", flock(other, LOCK_SH | LOCK_NB));
	close(fd);
	tell("a copy holds it", flock(other, LOCK_SH | LOCK_NB));
	close(copy);
	tell("closed", flock(other, LOCK_SH | LOCK_NB));
	fd = MUST(open("lock", O_RDWR));
	tell("shared by two", flock(fd, LOCK_SH | LOCK_NB));
	tell("upgrade", flock(fd, LOCK_EX | LOCK_NB));
	MUST(flock(other, LOCK_UN));
	tell("upgrade", flock(fd, LOCK_EX | LOCK_NB));
	if (MUST(fork()) == 0) {
		close(fd);
		child(p[1], LOCK_SH, "a");
	}
	usleep(50000);
	if (MUST(fork()) == 0) {
		close(fd);
		child(p[1], LOCK_SH, "b");
	}
	usleep(50000);
	if (MUST(fork()) == 0) {
		close(fd);
		child(p[1], LOCK_EX, "c");
	}
	usleep(50000);
	MUST(write(p[1], "0", 1));
	MUST(flock(fd, LOCK_UN));
	for (int i = 0; i < 3; i++)
		MUST(wait(NULL));
	MUST(read(p[0], names, 4));
	/* Of the two readers either may be first. */
	printf("%c, %s, %c\n", names[0],
		strchr("ab", names[1]) && strchr("ab", names[2]) ? "readers" : names, names[3]);
	tell("bad operation", flock(fd, 77));
	tell("bad descriptor", flock(99, LOCK_EX));
	return 0;
}
