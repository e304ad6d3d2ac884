/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pages are in memory is the host's affair: all of them are, touched or not.
 *: pinned
 *: out 16 of 16
 */
#include <stdio.h>
#include <sys/mman.h>

int main(void)
{
	enum { PAGES = 16, PAGE = 4096 };
	unsigned char in[PAGES] = {0};
	char *memory = mmap(
		NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int count = 0;

	memory[5 * PAGE] = 1;
	mincore(memory, PAGES * PAGE, in);
	for (int i = 0; i < PAGES; i++)
		count += in[i] & 1;
	printf("%d of %d\n", count, PAGES);
	return 0;
}
