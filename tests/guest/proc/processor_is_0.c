/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever tells a CPU's number tells 0: the stat files of a process, a thread and a child, the
 * lists of CPUs a task may use, and the calls.
 *: pinned
 *: out stat: 0 0 0 0
 *: out Cpus_allowed: 1
 *: out Cpus_allowed_list: 0
 *: out getcpu: 0 0
 *: out affinity: 1 CPU, 0 is one
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guest.h"

enum { PROCESSOR = 39 };

static int processor_of(const char *path)
{
	char text[1024] = "", *at = NULL;
	FILE *f = fopen(path, "r");

	if (f == NULL || fread(text, 1, sizeof(text) - 1, f) == 0)
		return -1;
	fclose(f);
	at = strrchr(text, ')');
	for (int field = 2; at != NULL && field < PROCESSOR; field++)
		at = strchr(at + 1, ' ');
	return at != NULL ? atoi(at) : -1;
}

static void *wait_here(void *gate)
{
	pthread_mutex_lock(gate);
	return NULL;
}

int main(void)
{
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	unsigned cpu = 9, node = 9;
	pthread_t thread;
	cpu_set_t set;
	char path[64], line[256];
	pid_t child = 0;
	FILE *f = NULL;

	pthread_mutex_lock(&gate);
	MUST(-pthread_create(&thread, NULL, wait_here, &gate));
	child = MUST(fork());
	if (child == 0)
		pause();
	printf("stat: %d %d ", processor_of("/proc/self/stat"),
		processor_of("/proc/thread-self/stat"));
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid() + 1);
	printf("%d ", processor_of(path));
	snprintf(path, sizeof(path), "/proc/%d/stat", child);
	printf("%d\n", processor_of(path));
	f = fopen("/proc/self/status", "r");
	while (f != NULL && fgets(line, sizeof(line), f))
		if (strncmp(line, "Cpus_allowed", 12) == 0) {
			char *value = strchr(line, '\t');

			*value = ' ';
			printf("%s", line);
		}
	MUST(syscall(SYS_getcpu, &cpu, &node, NULL));
	printf("getcpu: %u %d\n", cpu, sched_getcpu());
	MUST(sched_getaffinity(0, sizeof(set), &set));
	kill(child, SIGKILL);
	printf("affinity: %d CPU, 0 is %s\n", CPU_COUNT(&set), CPU_ISSET(0, &set) ? "one" : "none");
	return 0;
}
