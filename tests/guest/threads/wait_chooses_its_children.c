/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which children wait4 and waitid hear of: __WCLONE, __WALL, __WNOTHREAD, WNOWAIT, WNOHANG; the
 * errors of both; a clone child that executes a program is an ordinary one.
 *: native
 *: long
 *: out clone child, plainly: -1 10, with __WCLONE: found, then: -1 10
 *: out plain child, __WCLONE: -1 10, __WALL: found
 *: out clone child after exec, plainly: found
 *: out another thread's child, __WNOTHREAD: -1 10, plainly: found
 *: out given over at the thread's end: found
 *: out WNOWAIT: exited 5, again exited 5, then collected 5, then -1 10
 *: out alive: 0, stopped and waited: no
 *: out options: -1 22, none: -1 22, wait4: -1 22, type: -1 22, huge: -1 3
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STACK = 65536 };

static pid_t child, threads_child;
static double began;

static int ends(void *unused)
{
	usleep(50000);
	return unused != NULL;
}

static int executes(void *unused)
{
	execl("/bin/true", "true", NULL);
	return unused != NULL;
}

static pid_t clone_child(int (*function)(void *))
{
	char *p = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return clone(function, p + STACK, 0, NULL);
}

static pid_t fork_child(int status)
{
	pid_t pid = fork();

	if (pid == 0) {
		usleep(50000);
		_exit(status);
	}
	return pid;
}

/* A wait that nobody can end is refused at once, not when the others have ended. */
static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void tell(const char *what, int r, const char *end)
{
	if (r == child)
		printf("%s: found%s", what, end);
	else if (r < 0)
		printf("%s: %d %d%s%s", what, r, errno, now() - began < 0.025 ? "" : " late", end);
	else
		printf("%s: %d%s", what, r, end);
}

static void *forks(void *stays)
{
	threads_child = fork_child(0);
	usleep(stays ? 100000 : 1000);
	return NULL;
}

static int wait_any(int options)
{
	began = now();
	return (int)syscall(SYS_wait4, -1, NULL, options, NULL);
}

static int look(int options, siginfo_t *info)
{
	info->si_status = 0;
	return (int)syscall(SYS_waitid, P_PID, child, info, options, NULL);
}

int main(void)
{
	pthread_t thread;
	siginfo_t info;
	int r;

	child = clone_child(ends);
	tell("clone child, plainly", wait_any(0), ", ");
	tell("with __WCLONE", wait_any(__WCLONE), ", ");
	tell("then", wait_any(__WCLONE), "\n");
	child = fork_child(0);
	tell("plain child, __WCLONE", wait_any(__WCLONE), ", ");
	tell("__WALL", wait_any(__WALL), "\n");
	child = clone_child(executes);
	usleep(50000);
	tell("clone child after exec, plainly", wait_any(0), "\n");
	pthread_create(&thread, NULL, forks, &info);
	usleep(5000);
	child = threads_child;
	tell("another thread's child, __WNOTHREAD", wait_any(__WNOTHREAD), ", ");
	tell("plainly", wait_any(0), "\n");
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, forks, NULL);
	pthread_join(thread, NULL);
	child = threads_child;
	tell("given over at the thread's end", wait_any(__WNOTHREAD), "\n");
	child = fork_child(5);
	look(WEXITED | WNOWAIT, &info);
	printf("WNOWAIT: exited %d", info.si_status);
	look(WEXITED | WNOWAIT, &info);
	printf(", again exited %d", info.si_status);
	look(WEXITED, &info);
	printf(", then collected %d", info.si_status);
	r = look(WEXITED, &info);
	printf(", then %d %d\n", r, errno);
	child = fork_child(0);
	r = look(WEXITED | WNOHANG, &info);
	printf("alive: %d, ", r);
	look(WEXITED | WSTOPPED, &info);
	printf("stopped and waited: %s\n", info.si_code == CLD_STOPPED ? "yes" : "no");
	r = look(0x100 | WEXITED, &info);
	printf("options: %d %d, ", r, errno);
	r = look(WNOHANG, &info);
	printf("none: %d %d, ", r, errno);
	r = wait_any(WNOWAIT);
	printf("wait4: %d %d, ", r, errno);
	r = (int)syscall(SYS_waitid, 9, 0, &info, WEXITED, NULL);
	printf("type: %d %d, ", r, errno);
	r = (int)syscall(SYS_wait4, INT_MIN, NULL, 0, NULL);
	printf("huge: %d %d\n", r, errno);
	return 0;
}
