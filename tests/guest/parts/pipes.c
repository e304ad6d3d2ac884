/* SPDX-License-Identifier: Apache-2.0 */
/* Pipes: more than their room, several writers, many readers' turns, EOF and SIGPIPE. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void big(void)
{
	const size_t size = 3 << 20;
	char *data = malloc(size);
	int ends[2], status;
	unsigned long sum = 0, reads = 0;
	ssize_t n;

	if (!data || pipe(ends))
		exit(1);
	memset(data, 'x', size);
	const pid_t child = fork();
	if (child == 0) {
		close(ends[0]);
		_exit(write(ends[1], data, size) == (ssize_t)size ? 0 : 1);
	}
	close(ends[1]);
	while ((n = read(ends[0], data, 65536)) > 0) {
		sum += (unsigned long)n;
		reads++;
	}
	close(ends[0]);
	waitpid(child, &status, 0);
	printf("%lu bytes in %lu reads, status %d\n", sum, reads, status);
	free(data);
}

static void writers(void)
{
	int ends[2];
	char line[64], data[4096];
	ssize_t n;

	if (pipe(ends))
		exit(1);
	for (int w = 0; w < 4; w++) {
		if (fork() == 0) {
			close(ends[0]);
			for (int i = 0; i < 10; i++) {
				const int len = snprintf(line, sizeof(line), "%d.%d ", w, i);

				if (write(ends[1], line, (size_t)len) != len)
					_exit(1);
				if (i % 3 == w)
					usleep(10);
			}
			_exit(0);
		}
	}
	close(ends[1]);
	while ((n = read(ends[0], data, sizeof(data))) > 0)
		printf("[%.*s]\n", (int)n, data);
	close(ends[0]);
	while (wait(NULL) > 0)
		continue;
}

static void broken(void)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	int ends[2], status;

	if (pipe(ends))
		exit(1);
	close(ends[0]);
	fflush(stdout);
	const pid_t child = fork();
	if (child == 0)
		_exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
	waitpid(child, &status, 0);
	printf("writer: signal %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	sigaction(SIGPIPE, &ignore, NULL);
	const ssize_t n = write(ends[1], "x", 1);
	printf("ignored: %s\n", n < 0 ? strerror(errno) : "worked");
}

int main(void)
{
	big();
	writers();
	broken();
	return 0;
}
