/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor's own watch over memory.
 *
 * Seen late by up to a tick, and blind to what no process maps (a memfd that was filled by write
 * and is not mapped): the host says so as limit_degraded. What tmpfs holds is bounded by its size.
 */
#include "supervise/io/watch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "supervise/engine/task.h"

static uint64_t limit;
static bool has_killed;

void watch_memory(uint64_t limit_bytes)
{
	limit = limit_bytes;
}

bool watch_has_killed(void)
{
	return has_killed;
}

/* Pages that belong to this process alone or to shared memory; file pages can be had again. */
static uint64_t resident(pid_t pid)
{
	unsigned long size, all, file;
	char path[32], text[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	if (sscanf(text, "%lu %lu %lu", &size, &all, &file) != 3 || file > all)
		return 0;
	return (uint64_t)(all - file) * (uint64_t)sysconf(_SC_PAGESIZE);
}

void watch_tick(void)
{
	const struct process *largest = NULL;
	uint64_t sum = 0, most = 0;

	if (!limit)
		return;
	for (const struct process *p = process_list; p; p = p->next) {
		uint64_t bytes = p->zombie ? 0 : resident(p->pid);

		sum += bytes;
		if (bytes > most) {
			most = bytes;
			largest = p;
		}
	}
	if (sum <= limit || !largest)
		return;
	if (kill(largest->pid, SIGKILL) == 0)
		has_killed = true;
}
