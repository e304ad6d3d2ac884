/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child draws from a stream of its own, at the same instruction; what it draws moves nothing of
 * its parent's.
 *: varies
 *: long
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned long draw(void)
{
	uint64_t value;

	__asm__ volatile("1: rdrand %0\n\tjnc 1b" : "=r"(value) : : "cc");
	return value;
}

int main(void)
{
	printf("%016lx\n", draw());
	fflush(stdout);
	for (int i = 0; i < 3; i++) {
		if (fork() == 0) {
			printf("child %016lx %016lx\n", draw(), draw());
			return 0;
		}
		wait(NULL);
	}
	printf("%016lx\n", draw());
	return 0;
}
