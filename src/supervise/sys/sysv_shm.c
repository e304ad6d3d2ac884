/* SPDX-License-Identifier: Apache-2.0 */
/* System V shared memory: nothing waits here; the times and the host's swap are what we hold. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/engine/inject.h"
#include "supervise/sys/sysv.h"

enum { MAPS_MAX = 16 << 20 };

/* Whether the host has huge pages to spare is not for the guest to know. */
enum act enter_shmget(struct task *t, struct call *c)
{
	(void)t;
	return c->arg[2] & SHM_HUGETLB ? call_done(c, -EPERM) : ACT_LEAVE;
}

void leave_shmget(struct task *t, struct call *c)
{
	(void)t;
	if (c->result >= 0)
		(void)sysv_times_of(SYSV_SHM, (int)c->result);
}

enum act enter_shmat(struct task *t, struct call *c)
{
	(void)t;
	(void)c;
	return ACT_LEAVE;
}

void leave_shmat(struct task *t, struct call *c)
{
	(void)t;
	if ((uint64_t)c->result > -4096ull)
		return;
	sysv_times_of(SYSV_SHM, (int)c->arg[0])->first = sysv_now();
	sysv_processes_changed();
}

/* In maps such a mapping has a name of its own, and the segment's id for an inode; -1: none there.
 */
static int segment_at(const struct task *t, uint64_t addr)
{
	char path[40], *rest, *line;
	autofree char *text = NULL;
	autoclose int fd = -1;
	struct error err;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/maps", t->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fd_slurp(fd, MAPS_MAX, &text, &len, &err) < 0)
		return -1;
	for (rest = text; (line = strsep(&rest, "\n")) != NULL;) {
		uint64_t start;
		int id;

		if (sscanf(line, "%" SCNx64 "-%*x %*s %*x %*x:%*x %d /SYSV", &start, &id) == 2 &&
			start == addr && strstr(line, " /SYSV"))
			return id;
	}
	return -1;
}

enum act enter_shmdt(struct task *t, struct call *c)
{
	int id = segment_at(t, c->arg[0]);

	if (id < 0)
		return ACT_NATIVE; /* EINVAL */
	c->result = inject(t, c->nr, c->arg);
	if (c->result == 0) {
		sysv_times_of(SYSV_SHM, id)->second = sysv_now();
		sysv_processes_changed();
	}
	return ACT_DONE;
}

enum act enter_shmctl(struct task *t, struct call *c)
{
	int id = (int)c->arg[0];

	switch ((int)c->arg[1]) {
	case IPC_RMID:
	case IPC_SET:
		c->result = inject(t, c->nr, c->arg);
		if (c->result == 0 && (int)c->arg[1] == IPC_SET)
			sysv_times_of(SYSV_SHM, id)->change = sysv_now();
		sysv_processes_changed();
		return ACT_DONE;
	case IPC_STAT:
	case SHM_STAT:
	case SHM_STAT_ANY:
	case SHM_INFO:
		return ACT_LEAVE;
	default:
		return ACT_NATIVE;
	}
}

static int hide_swap(struct task *t, uint64_t addr)
{
	struct shm_info info;

	if (gmem_read(t, addr, &info, sizeof(info)) < 0)
		return -EFAULT;
	info.shm_rss += info.shm_swp;
	info.shm_swp = info.swap_attempts = info.swap_successes = 0;
	return gmem_write(t, addr, &info, sizeof(info));
}

void leave_shmctl(struct task *t, struct call *c)
{
	int cmd = (int)c->arg[1], id = cmd == IPC_STAT ? (int)c->arg[0] : (int)c->result;
	const struct sysv_times *times;
	struct shmid_ds ds;

	if (c->result < 0)
		return;
	if (cmd == SHM_INFO) {
		if (hide_swap(t, c->arg[2]) < 0)
			c->result = -EFAULT;
		return;
	}
	if (gmem_read(t, c->arg[2], &ds, sizeof(ds)) < 0)
		return;
	times = sysv_times_of(SYSV_SHM, id);
	ds.shm_atime = times->first;
	ds.shm_dtime = times->second;
	ds.shm_ctime = times->change;
	if (gmem_write(t, c->arg[2], &ds, sizeof(ds)) < 0)
		c->result = -EFAULT;
}
