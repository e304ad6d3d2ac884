/* SPDX-License-Identifier: Apache-2.0 */
/* spin COUNT: reads the clock COUNT times with nothing in between. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 30000;
	struct timespec now = {0, 0};

	for (long i = 0; i < count; i++)
		clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%ld.%09ld\n", now.tv_sec, now.tv_nsec);
	return 0;
}
