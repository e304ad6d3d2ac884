/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clone shares and what it does not: memory, descriptors, working directory, handlers, a
 * parent; CLONE_VFORK waits, CLONE_PIDFD gives a descriptor; what is refused.
 *: native
 *: long
 *: out copy: memory no, descriptors no, directory no
 *: out shared: memory yes, descriptors yes, directory yes
 *: out handlers shared: yes, copied: no
 *: out parent is mine: yes, with CLONE_PARENT my parent: yes
 *: out vfork waited: yes, without: no
 *: out pidfd: is a descriptor, ready at its end, the child 3
 *: out thread without handlers: -1 22, handlers without memory: -1 22, pidfd and parent word: -1 22
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STACK = 65536 };

static volatile int touched;

static char *stack(void)
{
	char *p = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p + STACK;
}

static int touches(void *fd)
{
	touched = 1;
	close(*(int *)fd);
	return chdir("/") < 0;
}

static void on_signal(int sig)
{
	touched = sig;
}

static int handles(void *unused)
{
	signal(SIGUSR1, SIG_IGN);
	return unused != NULL;
}

static int sleeps(void *unused)
{
	struct timespec ts = {0, 20000000};

	nanosleep(&ts, NULL);
	touched = 1;
	return unused != NULL ? 3 : 0;
}

static int asks(void *pipe_end)
{
	pid_t parent = getppid();

	if (write(*(int *)pipe_end, &parent, sizeof(parent)) != sizeof(parent))
		return 1;
	usleep(20000); /* so that it is waited for */
	return 0;
}

static void share(const char *what, int flags)
{
	int fd = open("/", O_RDONLY | O_DIRECTORY);
	char before[4096], after[4096];

	touched = 0;
	if (!getcwd(before, sizeof(before)))
		return;
	waitpid(clone(touches, stack(), flags | SIGCHLD, &fd), NULL, 0);
	printf("%s: memory %s, descriptors %s", what, touched ? "yes" : "no",
		fcntl(fd, F_GETFD) < 0 ? "yes" : "no");
	if (!getcwd(after, sizeof(after)))
		return;
	printf(", directory %s\n", strcmp(before, after) ? "yes" : "no");
	if (chdir(before) < 0)
		return;
	close(fd);
}

static const char *is_handled(int flags)
{
	signal(SIGUSR1, on_signal);
	waitpid(clone(handles, stack(), flags | SIGCHLD, NULL), NULL, 0);
	touched = 0;
	raise(SIGUSR1);
	return touched ? "no" : "yes";
}

static void parents(void)
{
	pid_t first = 0, second = 0, me = getpid();
	int ends[2];

	if (pipe(ends) < 0)
		return;
	fflush(stdout);
	waitpid(clone(asks, stack(), SIGCHLD, &ends[1]), NULL, 0);
	if (read(ends[0], &first, sizeof(first)) != sizeof(first))
		return;
	/* In a child, so that the parent is ours to know. */
	if (fork() == 0) {
		clone(asks, stack(), CLONE_PARENT | SIGCHLD, &ends[1]);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	if (read(ends[0], &second, sizeof(second)) != sizeof(second))
		return;
	printf("parent is mine: %s, with CLONE_PARENT my parent: %s\n", first == me ? "yes" : "no",
		second == me ? "yes" : "no");
}

static void pidfd(void)
{
	struct pollfd p = {.events = POLLIN};
	siginfo_t info = {0};
	int fd = -1;

	clone(sleeps, stack(), CLONE_VM | CLONE_PIDFD | SIGCHLD, &info, &fd);
	p.fd = fd;
	printf("pidfd: %s, %s", fcntl(fd, F_GETFD) >= 0 ? "is a descriptor" : "?",
		poll(&p, 1, 0) == 0 && poll(&p, 1, 5000) == 1 ? "ready at its end" : "?");
	waitid((idtype_t)3 /* P_PIDFD */, (id_t)fd, &info, WEXITED);
	printf(", the child %d\n", info.si_status);
}

static void refused(const char *what, int flags, const char *end)
{
	int fd;
	int r = clone(sleeps, stack(), flags, NULL, &fd);

	printf("%s: %d %d%s", what, r, errno, end);
}

int main(void)
{
	share("copy", 0);
	share("shared", CLONE_VM | CLONE_FILES | CLONE_FS);
	printf("handlers shared: %s, ", is_handled(CLONE_VM | CLONE_SIGHAND));
	printf("copied: %s\n", is_handled(CLONE_VM));
	parents();
	touched = 0;
	clone(sleeps, stack(), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	printf("vfork waited: %s, ", touched ? "yes" : "no");
	touched = 0;
	clone(sleeps, stack(), CLONE_VM | SIGCHLD, NULL);
	printf("without: %s\n", touched ? "yes" : "no");
	while (wait(NULL) > 0)
		;
	pidfd();
	refused("thread without handlers", CLONE_VM | CLONE_THREAD, ", ");
	refused("handlers without memory", CLONE_SIGHAND, ", ");
	refused("pidfd and parent word", CLONE_PIDFD | CLONE_PARENT_SETTID, "\n");
	return 0;
}
