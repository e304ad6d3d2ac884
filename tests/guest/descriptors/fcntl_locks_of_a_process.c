/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POSIX locks: ranges split and join, F_GETLK names the holder's range, any close of the file drops
 * all, a child does not inherit them, a handler ends a wait.
 *: native
 *: long
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guest.h"

static int fd;

static int lock(int command, short type, int at, int len)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = len};
	int r = fcntl(fd, command, &l);

	if (r == 0 && command == F_GETLK)
		printf("%s %ld+%ld%s\n",
			l.l_type == F_UNLCK   ? "free"
			: l.l_type == F_RDLCK ? "read"
					      : "write",
			(long)l.l_start, (long)l.l_len,
			l.l_type != F_UNLCK && l.l_pid == getppid() ? " of the parent" : "");
	return r;
}

static void nothing(int sig)
{
	(void)sig;
}

static void in_child(const char *name, void (*act)(void))
{
	fflush(stdout);
	if (MUST(fork()) == 0) {
		printf("%s: ", name);
		act();
		fflush(stdout);
		_exit(0);
	}
	MUST(wait(NULL));
}

static void ask(void)
{
	lock(F_GETLK, F_WRLCK, 0, 0);
	lock(F_GETLK, F_RDLCK, 20, 0);
	lock(F_GETLK, F_WRLCK, 12, 5);
}

static void wait_for_it(void)
{
	struct sigaction a = {.sa_handler = nothing};

	sigaction(SIGALRM, &a, NULL);
	alarm(1);
	tell("waited", lock(F_SETLKW, F_WRLCK, 0, 1));
}

int main(void)
{
	fd = MUST(open("lock", O_CREAT | O_RDWR, 0644));
	MUST(lock(F_SETLK, F_WRLCK, 0, 30));
	MUST(lock(F_SETLK, F_UNLCK, 10, 10));
	MUST(lock(F_SETLK, F_RDLCK, 25, 5));
	in_child("held", ask);
	in_child("blocked", wait_for_it);
	MUST(lock(F_SETLK, F_UNLCK, 0, 12));
	in_child("less", ask);
	close(MUST(open("lock", O_RDONLY)));
	in_child("after a close", ask);
	tell("bad type", lock(F_SETLK, 9, 0, 1));
	tell("before the start", lock(F_SETLK, F_WRLCK, -1, 1));
	return 0;
}
