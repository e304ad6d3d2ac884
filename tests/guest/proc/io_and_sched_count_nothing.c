/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process read, wrote, computed and how often it was switched are figures of the host's.
 *: varies
 *: out io rchar: 0
 *: out io wchar: 0
 *: out io read_bytes: 0
 *: out sched nr_switches : 0
 *: out schedstat 0 0 0
 *: out status voluntary_ctxt_switches: 0
 *: out status nonvoluntary_ctxt_switches: 0
 */
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "../guest.h"

static void show(const char *name, const char *key)
{
	char path[64], line[512];
	FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/self/%s", name);
	f = fopen(path, "r");
	while (f != NULL && fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0) {
			char *tab = strchr(line, '\t');

			if (tab != NULL)
				*tab = ' ';
			printf("%s %s", name, line);
		}
	if (f != NULL)
		fclose(f);
}

int main(void)
{
	char data[65536];
	int fd = MUST(open("./data", O_RDWR | O_CREAT, 0600));

	memset(data, 7, sizeof(data));
	for (int i = 0; i < 50; i++) {
		MUST(pwrite(fd, data, sizeof(data), 0));
		MUST(pread(fd, data, sizeof(data), 0));
		sched_yield();
		usleep(100);
	}
	show("io", "rchar");
	show("io", "wchar");
	show("io", "read_bytes");
	show("sched", "nr_switches");
	show("schedstat", "");
	show("status", "voluntary_ctxt");
	show("status", "nonvoluntary_ctxt");
	return 0;
}
