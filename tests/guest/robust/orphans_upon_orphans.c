/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chain of 200 processes, each of which ends before its child: init adopts them, and the last one
 * tells.
 *: long
 *: out the last of 200, whose parent is 1
 */
#include <stdio.h>
#include <unistd.h>

enum { CHAIN = 200 };

int main(void)
{
	int ends[2];
	char byte = 0;

	if (pipe(ends) < 0)
		return 1;
	for (int i = 0; i < CHAIN; i++) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (child > 0 && i > 0)
			_exit(0);
		if (child > 0) {
			close(ends[1]);
			return read(ends[0], &byte, 1) == 1 ? 0 : 1;
		}
	}
	usleep(1000);
	printf("the last of %d, whose parent is %d\n", CHAIN, (int)getppid());
	fflush(stdout);
	return write(ends[1], "x", 1) != 1;
}
