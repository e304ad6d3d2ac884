/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open file description locks: of two descriptions in one process, shared by dup and fork, waited
 * for by threads, gone with the last close; they and POSIX locks see each other.
 *: native
 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "../guest.h"

static int lock(int fd, int command, short type)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_len = 10};

	return fcntl(fd, command, &l);
}

static void *wait_for_it(void *fd)
{
	tell("granted", lock(*(int *)fd, F_OFD_SETLKW, F_WRLCK));
	return NULL;
}

int main(void)
{
	int a = MUST(open("lock", O_CREAT | O_RDWR, 0644)), b = MUST(open("lock", O_RDWR)),
	    copy = dup(a);
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 10};
	pthread_t thread;

	tell("a", lock(a, F_OFD_SETLK, F_WRLCK));
	tell("b", lock(b, F_OFD_SETLK, F_RDLCK));
	tell("of the process", lock(b, F_SETLK, F_WRLCK));
	tell("copy", lock(copy, F_OFD_SETLK, F_WRLCK));
	MUST(fcntl(b, F_OFD_GETLK, &l));
	printf("type %d, pid %d\n", l.l_type, l.l_pid);
	pthread_create(&thread, NULL, wait_for_it, &b);
	usleep(50000);
	close(a);
	usleep(50000);
	puts("one of two is closed");
	close(copy);
	pthread_join(thread, NULL);
	tell("of the process", lock(MUST(open("lock", O_RDWR)), F_SETLK, F_RDLCK));
	l = (struct flock){.l_type = F_WRLCK, .l_pid = 7};
	tell("with a pid", fcntl(b, F_OFD_SETLK, &l));
	return 0;
}
