/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CLONE_CHILD_CLEARTID, CHILD_SETTID and PARENT_SETTID: which words have the id when, who is woken
 * at the end of a thread, of a process that shares the memory, and at its exec.
 *: native
 *: out parent word set: yes, child word set: yes
 *: out thread: woken, word 0
 *: out process that shares memory: woken, word 0
 *: out its exec: woken, word 0
 *: out process with memory of its own: not woken, word kept
 *: out set_tid_address: own id, woken
 */
#define STACK 65536
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t parent_word, child_word, seen, other_word;
static int is_set;

static char *stack(void)
{
	char *p = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p + STACK;
}

static int waits(void *how)
{
	struct timespec pause = {0, 20000000};

	seen = child_word;
	is_set = seen == (pid_t)syscall(SYS_gettid);
	nanosleep(&pause, NULL);
	if (how) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	syscall(SYS_exit, 0);
	return 0;
}

static int own_address(void *unused)
{
	struct timespec pause = {0, 20000000};

	is_set = syscall(SYS_set_tid_address, &other_word) == syscall(SYS_gettid);
	nanosleep(&pause, NULL);
	syscall(SYS_exit, 0);
	return unused != NULL;
}

/* Waits as pthread_join does, for at most a second. */
static const char *join(pid_t *word, pid_t value)
{
	struct timespec limit = {1, 0};

	while (*word == value)
		if (syscall(SYS_futex, word, FUTEX_WAIT, value, &limit, NULL, 0) < 0 &&
			errno == ETIMEDOUT)
			return "not woken";
	return "woken";
}

static const char *run(int flags, char *how)
{
	int tid = clone(waits, stack(),
		flags | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID | CLONE_PARENT_SETTID, how,
		&parent_word, NULL, &child_word);
	const char *woken;

	if (tid < 0)
		return "no clone";
	/* The child may not have run yet: then its word is not set. */
	usleep(5000);
	woken = join(&child_word, tid);
	if (!(flags & CLONE_THREAD))
		waitpid(tid, NULL, __WALL);
	return woken;
}

int main(void)
{
	enum {
		THREAD = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			 CLONE_SYSVSEM
	};
	const char *woken = run(THREAD, NULL);
	struct timespec limit = {0, 100000000};
	char how[] = "exec";
	pid_t tid;

	printf("parent word set: %s, child word set: %s\n", parent_word == seen ? "yes" : "no",
		is_set ? "yes" : "no");
	printf("thread: %s, word %d\n", woken, child_word);
	woken = run(CLONE_VM | SIGCHLD, NULL);
	printf("process that shares memory: %s, word %d\n", woken, child_word);
	woken = run(CLONE_VM | SIGCHLD, how);
	printf("its exec: %s, word %d\n", woken, child_word);
	child_word = 1;
	woken = run(SIGCHLD, NULL);
	child_word = 5;
	syscall(SYS_futex, &child_word, FUTEX_WAIT, 5, &limit, NULL, 0);
	printf("process with memory of its own: not woken, word %s\n",
		child_word == 5 ? "kept" : "?");
	other_word = 9;
	tid = clone(own_address, stack(), THREAD, NULL);
	woken = join(&other_word, 9);
	printf("set_tid_address: %s, %s\n", tid > 0 && is_set ? "own id" : "?", woken);
	return 0;
}
