/* SPDX-License-Identifier: Apache-2.0 */
/*
 * F_SETLKW: three processes that wait for each other in a ring; the one that closes it gets
 * EDEADLK.
 *: native
 */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guest.h"

enum { RING = 3 };

static int fd;

static int lock(int command, short type, int at)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};

	return fcntl(fd, command, &l);
}

static int member(int i)
{
	int r;

	MUST(lock(F_SETLKW, F_WRLCK, i));
	usleep(100000 + 50000 * (unsigned)i);
	r = lock(F_SETLKW, F_WRLCK, (i + 1) % RING);
	if (r < 0 && errno == EDEADLK)
		return 2; /* the others go on when this one ends */
	return r < 0;
}

int main(void)
{
	int refused = 0, granted = 0, status;

	fd = MUST(open("lock", O_CREAT | O_RDWR, 0644));
	for (int i = 0; i < RING; i++)
		if (MUST(fork()) == 0)
			_exit(member(i));
	for (int i = 0; i < RING; i++) {
		MUST(wait(&status));
		refused += WEXITSTATUS(status) == 2;
		granted += WEXITSTATUS(status) == 0;
	}
	printf("%d refused, %d granted\n", refused, granted);
	/* Not a ring: it waits for somebody who waits for nobody. */
	MUST(lock(F_SETLKW, F_WRLCK, 5));
	if (MUST(fork()) == 0)
		_exit(lock(F_SETLKW, F_WRLCK, 5) == 0 ? 0 : 1);
	usleep(50000);
	MUST(lock(F_SETLKW, F_WRLCK, 6));
	MUST(lock(F_SETLK, F_UNLCK, 5));
	MUST(wait(&status));
	printf("the child: %d\n", WEXITSTATUS(status));
	return 0;
}
