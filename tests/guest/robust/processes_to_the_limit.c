/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes until no more are allowed: the same number in every run, and all of them end.
 *: out refused 11, all reaped
 */
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	int ends[2], count = 0, reaped = 0, refused;
	char byte;

	if (pipe(ends) < 0)
		return 1;
	for (;;) {
		pid_t child = fork();

		if (child < 0)
			break;
		if (child == 0) {
			close(ends[1]);
			_exit(read(ends[0], &byte, 1) != 0);
		}
		count++;
	}
	refused = errno;
	close(ends[1]);
	while (wait(NULL) > 0)
		reaped++;
	if (count < 100 || reaped != count)
		printf("%d made, %d reaped\n", count, reaped);
	else
		printf("refused %d, all reaped\n", refused);
	return 0;
}
