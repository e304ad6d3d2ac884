/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups of a run: see cgroup.h.
 *
 * How it works: /proc/self/cgroup says where we are, /proc/self/mountinfo where that is mounted. A
 * limit whose controller has a version 1 hierarchy gets a group beneath our own there. The others
 * share one version 2 group, made at the nearest ancestor that hands its controllers down (our own
 * group mostly cannot: a version 2 group with processes in it has no controlled children). A
 * version 1 group is joined by init itself, by writing "0" to `tasks`: moving somebody else, or a
 * whole process, takes a global lock that costs milliseconds.
 */
#include "launch/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/janitor.h"
#include "base/mem.h"

enum { GROUPS = CGROUP_LIMITS + 1, UNIFIED = CGROUP_LIMITS, TEXT_MAX = 4 * 1024 * 1024 };

static const char *const controllers[CGROUP_LIMITS] = {"memory", "pids", "cpu"};

struct cgroup {
	char *paths[GROUPS];	  /* NULL, or a directory that we made */
	int fds[GROUPS];	  /* the same, open */
	int tasks[CGROUP_LIMITS]; /* version 1: `tasks`, open for writing */
	bool has[CGROUP_LIMITS];
	struct janitor janitor;
};

/* True when word is an element of the comma-separated list. */
static bool list_has(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (strncmp(p, word, len) == 0 && (p[len] == ',' || p[len] == '\0'))
			return true;
	return false;
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end && end[1] ? end + 1 : NULL;
}

/* A small file of the kernel's as a string; the caller frees. NULL when it cannot be read. */
static char *slurp(const char *path)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	size_t len;

	if (fd < 0 || fd_slurp(fd, TEXT_MAX, &text, &len, NULL) < 0)
		return NULL;
	return text;
}

/* Where we are and what is mounted where, as the kernel tells it. */
struct places {
	char *groups, *mounts; /* of /proc/self: cgroup, mountinfo */
};

/* Our group's path in the hierarchy of a controller ("" is version 2). */
static bool find_own(const struct places *p, const char *controller, char ret_path[static PATH_MAX])
{
	char list[512], path[PATH_MAX];

	/* "4:memory:/path", and "0::/path", which sscanf would not match with an empty list. */
	for (const char *line = p->groups; line; line = next_line(line)) {
		bool v2 = sscanf(line, "%*d::%4095[^\n]", path) == 1;

		if (!v2 && sscanf(line, "%*d:%511[^:\n]:%4095[^\n]", list, path) != 2)
			continue;
		if (*controller ? !v2 && list_has(list, controller) : v2) {
			snprintf(ret_path, PATH_MAX, "%s", path);
			return true;
		}
	}
	return false;
}

/* The directory of our own group in that hierarchy; its first *ret_top bytes are the mount point.
 */
static bool find_dir(const struct places *p, const char *controller, char ret_dir[static PATH_MAX],
	size_t *ret_top)
{
	char own[PATH_MAX], root[PATH_MAX], point[PATH_MAX], type[32], opts[512];

	if (!find_own(p, controller, own))
		return false;
	for (const char *line = p->mounts; line; line = next_line(line)) {
		const char *dash = strstr(line, " - ");
		size_t len;

		if (!dash || sscanf(dash, " - %31s %*s %511s", type, opts) != 2 ||
			sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) != 2)
			continue;
		if (*controller ? strcmp(type, "cgroup") != 0 || !list_has(opts, controller)
				: strcmp(type, "cgroup2") != 0)
			continue;
		len = strcmp(root, "/") == 0 ? 0 : strlen(root);
		if (strncmp(own, root, len) != 0 || (own[len] != '/' && own[len] != '\0'))
			continue;
		*ret_top = strlen(point);
		return snprintf(ret_dir, PATH_MAX, "%s%s", point, own + len) < PATH_MAX;
	}
	return false;
}

static int write_at(int dir, const char *name, const char *text)
{
	autoclose int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write(fd, text, strlen(text)) >= 0 ? 0 : -1;
}

static int write_number(int dir, const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return write_at(dir, name, text);
}

/*
 * Removes groups that nobody holds: their maker has a lock on the directory as long as it lives, so
 * that one of another process namespace, whose pid says nothing here, is left alone. A group that
 * is populated stays, rmdir refuses it.
 */
static void sweep(const char *parent)
{
	DIR *d = opendir(parent);
	struct dirent *e;
	int pid, n;

	while (d && (e = readdir(d))) {
		if (sscanf(e->d_name, "sandglass-%d-%d", &pid, &n) != 2)
			continue;
		autoclose int fd = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
			unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	}
	if (d)
		closedir(d);
}

/* A locked descriptor of the new group; -1 when it cannot be made or a sweeper was faster. */
static int make_locked(const char *path)
{
	struct stat held, there;

	if (mkdir(path, 0755) < 0)
		return -1;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && (flock(fd, LOCK_SH) < 0 || fstat(fd, &held) < 0 || stat(path, &there) < 0 ||
			       held.st_ino != there.st_ino))
		fd_close(&fd);
	return fd;
}

/* Makes parent/sandglass-PID-N; false when the caller may not. */
static bool make_group(struct cgroup *g, int slot, const char *parent, unsigned n)
{
	char path[PATH_MAX];

	/* The name may be taken by a process of another namespace that has our pid there. */
	for (unsigned tries = 0; tries < 10 && g->fds[slot] < 0; tries++) {
		if (snprintf(path, sizeof(path), "%s/sandglass-%d-%u", parent, (int)getpid(),
			    n + tries * 1000) >= (int)sizeof(path))
			return false;
		g->fds[slot] = make_locked(path);
	}
	if (g->fds[slot] < 0)
		return false;
	g->paths[slot] = mem_strdup(path);
	return true;
}

static bool set_v1(int dir, enum cgroup_limit limit, const struct contract *c)
{
	static const char memsw[] = "memory.memsw.limit_in_bytes";

	switch (limit) {
	case CGROUP_MEMORY:
		/* memsw may never be below the plain limit, and an old one may linger: this order.
		 */
		write_at(dir, memsw, "-1");
		if (write_number(dir, "memory.limit_in_bytes", c->memory_bytes) < 0)
			return false;
		if (write_number(dir, memsw, c->memory_bytes) < 0)
			write_at(dir, "memory.swappiness", "0");
		return true;
	case CGROUP_PIDS:
		return write_number(dir, "pids.max", c->pids + 1ull) == 0; /* and init */
	case CGROUP_CPU:
		return write_at(dir, "cpu.cfs_period_us", "100000") == 0 &&
		       write_at(dir, "cpu.cfs_quota_us", "100000") == 0;
	case CGROUP_LIMITS:
		break;
	}
	return false;
}

static bool set_v2(int dir, enum cgroup_limit limit, const struct contract *c)
{
	switch (limit) {
	case CGROUP_MEMORY:
		if (write_number(dir, "memory.max", c->memory_bytes) < 0)
			return false;
		write_at(dir, "memory.swap.max", "0"); /* absent without swap accounting */
		return true;
	case CGROUP_PIDS:
		return write_number(dir, "pids.max", c->pids + 1ull) == 0; /* and init */
	case CGROUP_CPU:
		return write_at(dir, "cpu.max", "100000 100000") == 0;
	case CGROUP_LIMITS:
		break;
	}
	return false;
}

static bool is_real_time(void)
{
	int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;

	return policy == SCHED_FIFO || policy == SCHED_RR;
}

static void new_v1(struct cgroup *g, enum cgroup_limit limit, const char *parent,
	const struct contract *c, unsigned n)
{
	sweep(parent);
	/* A group without real-time bandwidth of its own, which is any, refuses real-time tasks. */
	if (limit == CGROUP_CPU && is_real_time())
		return;
	if (!make_group(g, (int)limit, parent, n))
		return;
	g->tasks[limit] = openat(g->fds[limit], "tasks", O_WRONLY | O_CLOEXEC);
	g->has[limit] = g->tasks[limit] >= 0 && set_v1(g->fds[limit], limit, c);
}

/* True when the group hands memory and pids down to its children, after trying to make it so. */
static bool hands_down(const char *dir)
{
	autoclose int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autoclose int control =
		fd < 0 ? -1 : openat(fd, "cgroup.subtree_control", O_RDONLY | O_CLOEXEC);
	char text[256] = "";
	ssize_t len = control < 0 ? -1 : read(control, text, sizeof(text) - 1);

	if (len >= 0 && strstr(text, "memory") && strstr(text, "pids"))
		return true;
	return fd >= 0 && write_at(fd, "cgroup.subtree_control", "+memory +pids") == 0;
}

static void new_v2(struct cgroup *g, const struct places *p, const struct contract *c, unsigned n)
{
	char dir[PATH_MAX];
	size_t top;

	if (!find_dir(p, "", dir, &top))
		return;
	for (;;) {
		char *slash;

		if (hands_down(dir)) {
			sweep(dir);
			if (make_group(g, UNIFIED, dir, n))
				break;
			if (g->paths[UNIFIED])
				return;
		}
		slash = strrchr(dir, '/');
		if (!slash || (size_t)(slash - dir) < top)
			return;
		*slash = '\0';
	}
	for (int i = 0; i < CGROUP_LIMITS; i++)
		if (!g->paths[i])
			g->has[i] = set_v2(g->fds[UNIFIED], (enum cgroup_limit)i, c);
}

/* What dies in it leaves a moment after it was reaped. */
static void remove_group(const char *path, int tries)
{
	enum { PAUSE_NS = 5000000 };

	for (int i = 0; i < tries && rmdir(path) < 0 && errno == EBUSY; i++)
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

/* A janitor's work: last first, and ten seconds for what dies in a group. */
static void remove_groups(const void *groups)
{
	enum { TRIES = 2000 };
	const struct cgroup *g = groups;

	for (int i = GROUPS; i > 0; i--)
		if (g->paths[i - 1])
			remove_group(g->paths[i - 1], TRIES);
}

struct cgroup *cgroup_new(const struct contract *c)
{
	static unsigned counter;
	struct cgroup *g = mem_alloc(sizeof(*g));
	unsigned n = counter++;
	struct places places = {slurp("/proc/self/cgroup"), slurp("/proc/self/mountinfo")};
	bool all_v1 = true, any = false;
	struct error ignored;
	char parent[PATH_MAX];
	size_t top;

	for (int i = 0; i < GROUPS; i++)
		g->fds[i] = -1;
	for (int i = 0; i < CGROUP_LIMITS; i++) {
		g->tasks[i] = -1;
		if (find_dir(&places, controllers[i], parent, &top))
			new_v1(g, (enum cgroup_limit)i, parent, c, n);
		else
			all_v1 = false;
	}
	if (!all_v1)
		new_v2(g, &places, c, n);
	mem_cleanup(&places.groups);
	mem_cleanup(&places.mounts);
	g->janitor = JANITOR_NONE;
	for (int i = 0; i < GROUPS; i++)
		any = any || g->paths[i];
	/* Where there is none, the next run sweeps. */
	if (any)
		(void)!janitor_start(&g->janitor, remove_groups, g, &ignored);
	return g;
}

bool cgroup_has(const struct cgroup *g, enum cgroup_limit limit)
{
	return g->has[limit];
}

int cgroup_clone_fd(const struct cgroup *g)
{
	return g->fds[UNIFIED];
}

int cgroup_join(const struct cgroup *g, struct error *err)
{
	for (int i = 0; i < CGROUP_LIMITS; i++)
		if (g->tasks[i] >= 0 && write(g->tasks[i], "0", 1) < 0)
			return error_sys(err, "join the control group for %s", controllers[i]);
	return 0;
}

bool cgroup_was_oom(const struct cgroup *g)
{
	bool v1 = g->fds[CGROUP_MEMORY] >= 0;
	int dir = v1 ? g->fds[CGROUP_MEMORY] : g->fds[UNIFIED];
	autoclose int fd = -1;
	char text[1024] = "";
	const char *count;

	if (dir < 0 || !g->has[CGROUP_MEMORY])
		return false;
	fd = openat(dir, v1 ? "memory.oom_control" : "memory.events", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return false;
	count = strstr(text, "oom_kill ");
	return count && strncmp(count, "oom_kill 0", 10) != 0;
}

void cgroup_free(struct cgroup *g)
{
	if (!g)
		return;
	for (int i = 0; i < GROUPS; i++) {
		fd_close(&g->fds[i]);
		if (i < CGROUP_LIMITS)
			fd_close(&g->tasks[i]);
		if (g->paths[i])
			remove_group(g->paths[i], 200);
		mem_cleanup(&g->paths[i]);
	}
	janitor_finish(&g->janitor);
	mem_cleanup(&g);
}
