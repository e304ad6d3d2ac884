/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process inherits from whoever started the sandbox is as the first process of a kernel has
 * it; what it sets itself it reads.
 *: native
 *: rootless
 *: out oom_score_adj 0
 *: out coredump_filter 00000033
 *: out timerslack_ns 50000
 *: out oom_score_adj 500
 *: out coredump_filter 00000021
 *: out oom_score_adj 500
 */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guest.h"

static void show(const char *name)
{
	char path[64], text[64] = "";
	FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/self/%s", name);
	f = fopen(path, "r");
	if (f == NULL || fscanf(f, "%63s", text) != 1)
		exit(1);
	fclose(f);
	printf("%s %s\n", name, text);
	fflush(stdout);
}

static void set(const char *name, const char *value)
{
	char path[64];
	int fd = 0;

	snprintf(path, sizeof(path), "/proc/self/%s", name);
	fd = MUST(open(path, O_WRONLY));
	MUST(write(fd, value, strlen(value)));
	close(fd);
}

int main(void)
{
	show("oom_score_adj");
	show("coredump_filter");
	show("timerslack_ns");
	set("oom_score_adj", "500");
	set("coredump_filter", "0x21");
	show("oom_score_adj");
	show("coredump_filter");
	if (MUST(fork()) == 0) {
		show("oom_score_adj");
		return 0;
	}
	wait(NULL);
	return 0;
}
