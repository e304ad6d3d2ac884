/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ten thousand processes, one after the other.
 *: native
 *: long
 *: option --timeout
 *: option 300s
 *: out 10000 0
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	int count = 0, bad = 0;

	for (int i = 0; i < 10000; i++) {
		int status;
		pid_t child = fork();

		if (child == 0)
			_exit(i % 200);
		if (child < 0 || waitpid(child, &status, 0) != child)
			break;
		bad += status != i % 200 << 8;
		count++;
	}
	printf("%d %d\n", count, bad);
	return 0;
}
