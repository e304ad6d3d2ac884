/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong on purpose: two processes add to a number in memory that they share.
 *: long
 *: out 2 of 2
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	volatile int *number =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (number == MAP_FAILED)
		return 1;
	for (int i = 0; i < 2; i++)
		if (fork() == 0) {
			int seen = *number;

			*number = seen + 1;
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	printf("%d of 2\n", *number);
	return *number != 2;
}
