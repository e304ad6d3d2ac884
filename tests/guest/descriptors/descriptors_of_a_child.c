/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pidfd_getfd: a parent takes a child's pipe and file and shares their state; what it may not take
 * - of init, of its own parent, of one that is not dumpable - is refused, in the kernel's order.
 *: rootless
 *: out taken: close-on-exec 1
 *: out the child's offset: 3
 *: out of the parent: EPERM
 *: out read waits: 1 x
 *: out own: 5
 *: out flags: EINVAL
 *: out no pidfd: EBADF
 *: out no descriptor: EBADF
 *: out of init: EPERM
 *: out of an undumpable child: EPERM
 *: out of a dead child: ESRCH
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../guest.h"

static int take(int pidfd, int fd, unsigned flags)
{
	return (int)syscall(SYS_pidfd_getfd, pidfd, fd, flags);
}

static int pidfd_of(pid_t pid)
{
	return (int)MUST(syscall(SYS_pidfd_open, pid, 0));
}

static void refused(const char *what, int result)
{
	printf("%s: %s\n", what, result >= 0 ? "taken" : strerrorname_np(errno));
	fflush(stdout);
}

/* Holds a pipe whose write end the parent does not have, and a file read up to 3. */
static void be_child(int ready)
{
	const struct timespec nap = {0, 50000000};
	char text[3];
	int ends[2], file = MUST(open("./data", O_RDONLY));

	MUST(read(file, text, sizeof(text)));
	MUST(pipe(ends));
	MUST(write(ready, &ends, sizeof(ends)));
	MUST(write(ready, &file, sizeof(file)));
	nanosleep(&nap, NULL);
	MUST(write(ends[1], "x", 1));
	refused("of the parent", take(pidfd_of(getppid()), 1, 0));
	nanosleep(&nap, NULL);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	MUST(write(ready, "", 1));
	pause();
}

int main(void)
{
	int ready[2], ends[2], file = 0, fd = MUST(open("./data", O_WRONLY | O_CREAT, 0600));
	int pidfd = 0, own = 0, mine = 0;
	char byte = 0;
	pid_t child = 0;

	MUST(write(fd, "abcdef", 6));
	MUST(pipe(ready));
	child = MUST(fork());
	if (child == 0)
		be_child(ready[1]);
	pidfd = pidfd_of(child);
	MUST(read(ready[0], &ends, sizeof(ends)));
	MUST(read(ready[0], &file, sizeof(file)));
	fd = MUST(take(pidfd, ends[0], 0));
	printf("taken: close-on-exec %d\n", fcntl(fd, F_GETFD));
	file = MUST(take(pidfd, file, 0));
	printf("the child's offset: %d\n", (int)lseek(file, 0, SEEK_CUR));
	fflush(stdout);
	printf("read waits: %d ", (int)read(fd, &byte, 1));
	printf("%c\n", byte);
	own = pidfd_of(getpid());
	mine = MUST(open("./data", O_RDONLY));
	lseek(mine, 5, SEEK_SET);
	printf("own: %d\n", (int)lseek(MUST(take(own, mine, 0)), 0, SEEK_CUR));
	refused("flags", take(pidfd, 0, 1));
	refused("no pidfd", take(mine, 0, 0));
	refused("no descriptor", take(pidfd, 500, 0));
	refused("of init", take(pidfd_of(1), 0, 0));
	MUST(read(ready[0], &byte, 1));
	refused("of an undumpable child", take(pidfd, 0, 0));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	refused("of a dead child", take(pidfd, 0, 0));
	return 0;
}
