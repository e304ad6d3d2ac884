/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stack runs over: SIGSEGV for that process, and its parent hears of it.
 *: native
 *: long
 *: out signal 11
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int down(volatile int n)
{
	volatile char room[4096];

	memset((char *)(size_t)room, n, sizeof(room));
	return n < 0 ? 0 : down(n + 1) + room[n & 4095];
}

int main(void)
{
	int status;

	if (fork() == 0)
		_exit(down(0));
	wait(&status);
	printf("signal %d\n", WTERMSIG(status));
	return 0;
}
