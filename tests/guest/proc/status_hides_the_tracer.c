/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neither tracer nor filters nor switches of the host show in the status of a process, a
 * thread of it and a child.
 *: pinned
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *path)
{
	static const char *const wanted[] = {"State", "TracerPid", "NoNewPrivs", "Seccomp",
		"Threads", "voluntary_ctxt", "nonvoluntary_ctxt", "Cpus_allowed_list",
		"Mems_allowed_list", "VmRSS", "VmHWM"};
	char line[256];
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f))
		for (unsigned i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
			if (strncmp(line, wanted[i], strlen(wanted[i])) == 0)
				printf("%s", line);
	if (f)
		fclose(f);
}

static void *look(void *unused)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%ld/status", (long)syscall(SYS_gettid));
	show(path);
	return unused;
}

int main(void)
{
	pthread_t thread;
	char path[64];
	pid_t child = fork();

	if (child == 0) {
		pause();
		return 0;
	}
	usleep(1000);
	show("/proc/self/status");
	pthread_create(&thread, NULL, look, NULL);
	pthread_join(thread, NULL);
	snprintf(path, sizeof(path), "/proc/%d/status", child);
	show(path);
	kill(child, 9);
	waitpid(child, NULL, 0);
	return 0;
}
