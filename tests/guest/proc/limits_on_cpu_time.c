/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/PID/limits tells the limits on CPU time that were set, of oneself and of a child.
 *: native
 *: out before: Max cpu time              unlimited            unlimited            seconds   |
 *: out set: Max cpu time              7                    unlimited            seconds   |
 *: out set: Max realtime timeout      2000                 3000                 us        |
 *: out child: Max cpu time              7                    3600                 seconds   |
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *who, pid_t pid, const char *name)
{
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
	f = fopen(path, "re");
	if (!f)
		exit(1);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, name, strlen(name)) == 0) {
			line[strcspn(line, "\n")] = '\0';
			printf("%s: %s|\n", who, line);
		}
	fclose(f);
	fflush(stdout);
}

static void set(int resource, rlim_t soft, rlim_t hard)
{
	struct rlimit limit = {soft, hard};

	if (setrlimit(resource, &limit) != 0)
		exit(1);
}

int main(void)
{
	int ends[2];
	char c;
	pid_t pid;

	show("before", getpid(), "Max cpu");
	set(RLIMIT_CPU, 7, RLIM_INFINITY);
	set(RLIMIT_RTTIME, 2000, 3000);
	show("set", getpid(), "Max cpu");
	show("set", getpid(), "Max realtime timeout");
	set(RLIMIT_CPU, 7, 3600);
	if (pipe(ends) != 0)
		return 1;
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		_exit((int)read(ends[0], &c, 1));
	}
	show("child", pid, "Max cpu");
	close(ends[0]);
	close(ends[1]);
	waitpid(pid, NULL, 0);
	return 0;
}
