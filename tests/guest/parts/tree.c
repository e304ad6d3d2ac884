/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of processes that report through one pipe, end by exit and by signal, and leave orphans.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];

static void report(const char *text, int depth, int child)
{
	char line[100];
	const int len = snprintf(line, sizeof(line), "%s pid %d parent %d depth %d child %d\n",
		text, getpid(), getppid(), depth, child);

	if (write(ends[1], line, (size_t)len) != len)
		_exit(3);
}

static void grow(int depth)
{
	if (depth == 0)
		return;
	for (int child = 0; child < 3; child++) {
		const pid_t pid = fork();

		if (pid == 0) {
			report("born", depth, child);
			grow(depth - 1);
			if (depth == 1 && child == 2)
				raise(SIGKILL);
			_exit(depth * 10 + child);
		}
	}
	int status;
	pid_t pid;

	while ((pid = wait(&status)) > 0)
		report(WIFSIGNALED(status) ? "killed" : "ended", pid,
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static void orphan(void)
{
	const pid_t pid = fork();

	if (pid == 0) {
		if (fork() == 0) {
			sleep(1);
			report("orphan", 0, 0);
			_exit(0);
		}
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

int main(void)
{
	char data[4096];
	ssize_t n;

	if (pipe(ends))
		return 1;
	if (fork() == 0) {
		close(ends[0]);
		grow(3);
		orphan();
		_exit(0);
	}
	close(ends[1]);
	while ((n = read(ends[0], data, sizeof(data))) > 0)
		fwrite(data, 1, (size_t)n, stdout);
	int status;

	wait(&status);
	printf("status %d\n", status);
	return 0;
}
