/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory until there is no more: ENOMEM, not a death, and the run goes on.
 *: option --memory
 *: option 64M
 *: out refused 12
 *: out still here
 */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

int main(void)
{
	for (int i = 0; i < 1000; i++)
		if (mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0) == MAP_FAILED) {
			printf("refused %d\n", errno);
			break;
		}
	puts("still here");
	return 0;
}
