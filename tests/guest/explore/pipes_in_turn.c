/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right: three processes pass a token around through pipes, larger than a pipe holds at once.
 *: option --sched-seed
 *: option 13
 *: out 300000
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TOTAL = 300000 };

static void child(const int a[2], const int b[2])
{
	static char buf[8192];
	ssize_t n;

	close(a[1]);
	close(b[0]);
	while ((n = read(a[0], buf, sizeof(buf))) > 0)
		if (write(b[1], buf, (size_t)n) != n)
			_exit(1);
	_exit(0);
}

int main(void)
{
	static char data[TOTAL];
	int a[2], b[2];
	long total = 0;
	ssize_t n;

	if (pipe(a) < 0 || pipe(b) < 0)
		return 1;
	if (fork() == 0)
		child(a, b);
	close(a[0]);
	close(b[1]);
	if (fork() == 0) {
		close(b[0]);
		_exit(write(a[1], data, TOTAL) != TOTAL);
	}
	close(a[1]);
	while ((n = read(b[0], data, sizeof(data))) > 0)
		total += n;
	while (wait(NULL) > 0)
		;
	printf("%ld\n", total);
	return 0;
}
