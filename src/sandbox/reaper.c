/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ending all descendants: see reaper.h.
 *
 * How it works. Everything below is stopped, so that nothing forks meanwhile, and killed. What
 * forks and ends, again and again, is in no list of /proc long enough; but who loses its parent
 * becomes our child, and that list is short: it is killed and reaped until it is empty.
 */
#include "sandbox/reaper.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/proc.h"

enum { CHASES = 2000, PIDS_MAX = 65536, LIST_MAX = 65536 };
#define KILL_NS UINT64_C(10000000000)

static struct processes {
	pid_t pid[PIDS_MAX], parent[PIDS_MAX];
	size_t count;
} all;

/* Every process that can be seen, with its parent. */
static void read_processes(void)
{
	DIR *proc = opendir("/proc");
	const struct dirent *d;

	all.count = 0;
	while (proc && (d = readdir(proc)) && all.count < PIDS_MAX) {
		struct proc_stat st;
		int pid;

		if (sscanf(d->d_name, "%d", &pid) != 1 || !proc_stat_read(pid, &st))
			continue;
		all.pid[all.count] = pid;
		all.parent[all.count++] = (pid_t)st.parent;
	}
	if (proc)
		closedir(proc);
}

static bool is_spared(const struct reaper *r, pid_t pid)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->spared[i] == pid)
			return true;
	return false;
}

static void signal_below(const struct reaper *r, int sig)
{
	size_t found = 0, before;
	static bool below[PIDS_MAX];
	pid_t self = getpid();

	read_processes();
	memset(below, 0, sizeof(below));
	do {
		before = found;
		for (size_t i = 0; i < all.count; i++) {
			bool is_ours = all.parent[i] == self && !is_spared(r, all.pid[i]);

			for (size_t k = 0; k < all.count && !is_ours && !below[i]; k++)
				is_ours = below[k] && all.pid[k] == all.parent[i];
			if (!is_ours || below[i])
				continue;
			below[i] = true;
			found++;
			kill(all.pid[i], sig);
		}
	} while (found != before);
}

/* Calls visit for our children, in a fraction of the time that all of /proc takes. How many. */
static size_t visit_children(void (*visit)(void *arg, pid_t pid), void *arg)
{
	static char text[LIST_MAX];
	autoclose int list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	ssize_t n = list < 0 ? -1 : read(list, text, sizeof(text) - 1);
	size_t count = 0;
	int pid, len;

	/* A kernel without that list. */
	if (n < 0) {
		read_processes();
		for (size_t i = 0; i < all.count; i++)
			if (all.parent[i] == getpid()) {
				visit(arg, all.pid[i]);
				count++;
			}
		return count;
	}
	text[n] = '\0';
	/* A number that the buffer cuts off has no space behind it. */
	for (const char *p = text; sscanf(p, "%d%n", &pid, &len) == 1 && p[len] == ' '; p += len) {
		visit(arg, pid);
		count++;
	}
	return count;
}

static void spare(void *arg, pid_t pid)
{
	struct reaper *r = arg;

	if (r->count < REAPER_SPARED_MAX)
		r->spared[r->count++] = pid;
}

struct chase {
	const struct reaper *r;
	size_t left;
};

static void end_child(void *arg, pid_t pid)
{
	struct chase *c = arg;

	if (is_spared(c->r, pid))
		return;
	c->left++;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, WNOHANG);
}

/* True when no child is left. */
static bool chase(const struct reaper *r)
{
	for (int i = 0; i < CHASES; i++) {
		struct chase c = {.r = r};

		visit_children(end_child, &c);
		if (c.left == 0)
			return true;
	}
	return false;
}

void reaper_begin(struct reaper *r)
{
	int before = 0;

	*r = (struct reaper){0};
	prctl(PR_GET_CHILD_SUBREAPER, &before);
	r->was_subreaper = before != 0;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	visit_children(spare, r);
}

bool reaper_kill(const struct reaper *r)
{
	uint64_t deadline_ns = clock_host_ns() + KILL_NS;

	do {
		signal_below(r, SIGSTOP);
		signal_below(r, SIGKILL);
		if (chase(r))
			return true;
	} while (clock_host_ns() < deadline_ns);
	return false;
}

void reaper_end(struct reaper *r)
{
	if (!r->was_subreaper)
		prctl(PR_SET_CHILD_SUBREAPER, 0);
}
