/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mappings have their policy and file, and no word of where the host put how many pages.
 *: pinned
 *: rootless
 *: out mappings: some
 *: out default: all
 *: out of a file: some
 *: out heap, stack: 1 1
 *: out counted: 0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
	char line[8192];
	int all = 0, usual = 0, file = 0, heap = 0, stack = 0, counted = 0;
	volatile char *used = malloc(100000);
	FILE *f = fopen("/proc/self/numa_maps", "r");

	if (f == NULL || used == NULL)
		return 1;
	used[0] = 1;
	while (fgets(line, sizeof(line), f)) {
		all++;
		usual += strstr(line, " default") != NULL;
		file += strstr(line, " file=/") != NULL;
		heap += strstr(line, " heap") != NULL;
		stack += strstr(line, " stack") != NULL;
		counted += strstr(line, " N0=") != NULL || strstr(line, "anon=") != NULL ||
			   strstr(line, "mapped=") != NULL || strstr(line, "dirty=") != NULL;
	}
	printf("mappings: %s\ndefault: %s\n", all > 5 ? "some" : "none",
		usual == all ? "all" : "not all");
	printf("of a file: %s\nheap, stack: %d %d\ncounted: %d\n", file > 0 ? "some" : "none", heap,
		stack, counted);
	return 0;
}
