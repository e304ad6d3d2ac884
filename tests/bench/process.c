/* SPDX-License-Identifier: Apache-2.0 */
/* Starting, pinning, timing and watching one process: see process.h. */
#include "process.h"

#include <ctype.h>
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The last CPU that we may use: interrupts and other work tend to be on the first. */
static void pin(void)
{
	cpu_set_t set, one;

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		_exit(126);
	for (int i = CPU_SETSIZE - 1; i >= 0; i--)
		if (CPU_ISSET(i, &set)) {
			CPU_SET(i, &one);
			break;
		}
	if (sched_setaffinity(0, sizeof(one), &one) != 0)
		_exit(126);
}

static _Noreturn void child(const char *const argv[], const char *dir)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	pin();
	if (null < 0 || chdir(dir) != 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0)
		_exit(126);
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

/* The value of a line of /proc/PID/status as text, or false. */
static bool status_line(const char *pid, const char *key, char *value, size_t size)
{
	char path[64], line[256];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0) {
			snprintf(value, size, "%s", line + strlen(key));
			found = true;
		}
	fclose(f);
	return found;
}

/* The first process of a pid namespace below ours that is named as the supervisor is. */
static long supervisor_peak_kib(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	long peak = 0;

	while (proc && (d = readdir(proc))) {
		char value[256];

		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		if (!status_line(d->d_name, "Name:", value, sizeof(value)) ||
			!strstr(value, "sandglass-super"))
			continue;
		if (!status_line(d->d_name, "NSpid:", value, sizeof(value)) ||
			!strchr(value + 1, '\t') || strcmp(strrchr(value, '\t'), "\t1\n") != 0)
			continue;
		if (status_line(d->d_name, "VmHWM:", value, sizeof(value))) {
			long kib = strtol(value, NULL, 10);

			peak = kib > peak ? kib : peak;
		}
	}
	if (proc)
		closedir(proc);
	return peak;
}

uint64_t process_time(const char *const argv[], const char *dir, long *ret_peak_kib)
{
	uint64_t start = now_ns();
	int status;
	pid_t got, pid = fork();

	if (pid == 0)
		child(argv, dir);
	if (pid < 0)
		err(2, "fork");
	if (ret_peak_kib)
		*ret_peak_kib = 0;
	do {
		got = waitpid(pid, &status, ret_peak_kib ? WNOHANG : 0);
		if (got == 0 && ret_peak_kib) {
			long kib = supervisor_peak_kib();

			*ret_peak_kib = kib > *ret_peak_kib ? kib : *ret_peak_kib;
			usleep(2000);
		}
	} while (got == 0);
	if (got != pid || status != 0) {
		warnx("%s %s ... in %s ended with wait status %#x", argv[0], argv[1] ? argv[1] : "",
			dir, (unsigned)status);
		return PROCESS_FAILED;
	}
	return now_ns() - start;
}
