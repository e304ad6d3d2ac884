/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects without a name: see nameless.h.
 *
 * How it works: when so many were numbered since the last time, the descriptors and mappings of all
 * processes are looked through, and what is not among them loses its number. What is on its way in
 * a socket is among those: received, it is new.
 */
#include "supervise/files/nameless.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "supervise/engine/task.h"
#include "supervise/files/inode.h"

enum { DEVICES = 3 };

struct object {
	uint32_t dev;
	uint64_t ino;
};

static uint32_t devices[DEVICES];
static uint32_t device_count;
static struct object *live;
static size_t live_count, live_room;

static bool is_nameless(uint32_t dev)
{
	for (uint32_t i = 0; i < device_count; i++)
		if (devices[i] == dev)
			return true;
	return false;
}

static void live_add(uint32_t dev, uint64_t ino)
{
	if (!is_nameless(dev))
		return;
	if (live_count == live_room) {
		live_room = live_room == 0 ? 256 : live_room * 2;
		live = mem_grow(live, live_room, sizeof(*live));
	}
	live[live_count++] = (struct object){dev, ino};
}

static void scan_descriptors(pid_t tid)
{
	char path[32];
	struct dirent *entry = NULL;
	DIR *dir = NULL;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", tid);
	dir = opendir(path);
	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL) {
		struct stat st;

		if (fstatat(dirfd(dir), entry->d_name, &st, 0) == 0)
			live_add(inode_pack_dev(major(st.st_dev), minor(st.st_dev)), st.st_ino);
	}
	(void)closedir(dir);
}

static void scan_mappings(pid_t tid)
{
	char path[32], line[512];
	FILE *maps = NULL;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	maps = fopen(path, "re");
	if (maps == NULL)
		return;
	while (fgets(line, sizeof(line), maps) != NULL) {
		uint32_t major_nr = 0, minor_nr = 0;
		uint64_t ino = 0;

		if (sscanf(line, "%*x-%*x %*s %*x %" SCNx32 ":%" SCNx32 " %" SCNu64, &major_nr,
			    &minor_nr, &ino) == 3)
			live_add(inode_pack_dev(major_nr, minor_nr), ino);
	}
	(void)fclose(maps);
}

static int compare(const void *a, const void *b)
{
	const struct object *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

static bool is_gone(uint32_t dev, uint64_t ino)
{
	const struct object wanted = {dev, ino};

	return is_nameless(dev) &&
	       bsearch(&wanted, live, live_count, sizeof(*live), compare) == NULL;
}

static void sweep(void)
{
	live_count = 0;
	for (const struct task *t = task_list; t != NULL; t = t->next) {
		if (t->state == TASK_LEFT)
			continue;
		scan_descriptors(t->tid);
		scan_mappings(t->tid);
	}
	if (live_count > 0)
		qsort(live, live_count, sizeof(*live), compare);
	inode_forget(is_gone);
	free(live);
	live = NULL;
	live_count = live_room = 0;
}

static void device_of(int fd)
{
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0)
		devices[device_count++] = inode_pack_dev(major(st.st_dev), minor(st.st_dev));
}

void nameless_init(void)
{
	autoclose int memory = memfd_create("", MFD_CLOEXEC);
	autoclose int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int ends[2];

	device_of(memory);
	device_of(sock);
	if (pipe2(ends, O_CLOEXEC) == 0) {
		device_of(ends[0]);
		close(ends[0]);
		close(ends[1]);
	}
	inode_sweep_by(is_nameless, sweep);
}
