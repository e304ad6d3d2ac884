/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signal while a task waits for a lock that another process holds.
 *: native
 *: long
 */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eintr.h"

enum kind { FLOCK, POSIX, OFD };

static int release[2], done[2];
static int fd;

static void let_go(void)
{
	if (write(release[1], "x", 1) != 1)
		_exit(1);
}

static long lock(enum kind kind, int file)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 10};

	if (kind == FLOCK)
		return flock(file, LOCK_EX);
	return fcntl(file, kind == POSIX ? F_SETLKW : F_OFD_SETLKW, &l);
}

static void unlock(enum kind kind)
{
	struct flock l = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_len = 10};

	if (kind == FLOCK)
		flock(fd, LOCK_UN);
	else
		fcntl(fd, kind == POSIX ? F_SETLK : F_OFD_SETLK, &l);
}

/* Holds it until it is told to let go. */
static pid_t holder(enum kind kind)
{
	pid_t pid = fork();
	char byte;

	if (pid == 0) {
		int own = open("locked", O_RDWR);

		if (lock(kind, own) < 0 || write(done[1], "x", 1) != 1 ||
			read(release[0], &byte, 1) != 1)
			_exit(1);
		_exit(0);
	}
	if (read(done[0], &byte, 1) != 1)
		_exit(1);
	return pid;
}

static void try(const char *what, enum kind kind)
{
	for (int restart = 0; restart < 2; restart++) {
		pid_t pid = holder(kind);
		long r;

		eintr_arm(restart, let_go);
		r = lock(kind, fd);
		eintr_tell(what, restart, r);
		if (r < 0)
			let_go();
		waitpid(pid, NULL, 0);
		unlock(kind);
	}
}

int main(void)
{
	fd = open("locked", O_RDWR | O_CREAT, 0600);
	if (fd < 0 || pipe(release) < 0 || pipe(done) < 0)
		return 1;
	try("flock", FLOCK);
	try("F_SETLKW", POSIX);
	try("F_OFD_SETLKW", OFD);
	return 0;
}
