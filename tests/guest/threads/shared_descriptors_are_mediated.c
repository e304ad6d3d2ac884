/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two processes share their descriptors: a pipe that one makes after that the other reads, and
 * neither blocks the rest of the run. A thread with descriptors of its own reads its own pipe.
 *: native
 *: long
 *: out the sharer read x
 *: out the thread read y
 */
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 65536 };

static volatile int ends[2], word;
static char byte;

static char *stack(void)
{
	char *p = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p + STACK;
}

static int sharer(void *unused)
{
	while (!ends[1])
		usleep(1000);
	if (read(ends[0], &byte, 1) != 1)
		return 1;
	return unused != NULL;
}

static int own(void *unused)
{
	int mine[2];

	/* The same numbers as others in the table of the main thread. */
	close(ends[0]);
	close(ends[1]);
	if (pipe(mine) == 0 && write(mine[1], "y", 1) == 1 && read(mine[0], &byte, 1) == 1)
		word = 1;
	syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
	syscall(SYS_exit, 0);
	return unused != NULL;
}

int main(void)
{
	int fds[2];
	pid_t child = clone(sharer, stack(), CLONE_VM | CLONE_FILES | SIGCHLD, NULL);

	usleep(5000);
	if (pipe(fds) < 0)
		return 1;
	ends[0] = fds[0];
	ends[1] = fds[1];
	usleep(20000);
	if (write(fds[1], "x", 1) != 1)
		return 1;
	waitpid(child, NULL, 0);
	printf("the sharer read %c\n", byte);
	clone(own, stack(), CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM,
		NULL);
	while (!word)
		syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
	printf("the thread read %c\n", byte);
	return 0;
}
