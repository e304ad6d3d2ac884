/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process becomes itself 300 times.
 *: native
 *: long
 *: out 300
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0;
	char text[16];

	if (count == 300) {
		printf("%d\n", count);
		return 0;
	}
	snprintf(text, sizeof(text), "%d", count + 1);
	execl("/proc/self/exe", argv[0], text, (char *)NULL);
	return 1;
}
