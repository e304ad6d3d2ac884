/* SPDX-License-Identifier: Apache-2.0 */
/* Opening FIFOs: see fifo.h. */
#include "supervise/io/fifo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fd.h"
#include "supervise/engine/sched.h"
#include "supervise/engine/tighten.h"

/* park.bits of a task that waits in such an open. */
enum { WAITS_TO_READ = 1, WAITS_TO_WRITE = 2 };

static int reopen(const struct path *fifo, int mode)
{
	char link[32];

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fifo->fd);
	return open(link, mode | O_NONBLOCK | O_CLOEXEC);
}

/* 1, 0, or -1: not ours to open. */
static int has_reader(const struct path *fifo)
{
	autoclose int fd = reopen(fifo, O_WRONLY);

	if (fd >= 0)
		return 1;
	return errno == ENXIO ? 0 : -1;
}

static int has_writer(const struct path *fifo)
{
	autoclose int fd = reopen(fifo, O_RDONLY);
	int left = 0;
	char byte = 0;

	if (fd < 0)
		return -1;
	/* What is in it must not be taken out; whoever wrote it counts as there. */
	if (ioctl(fd, FIONREAD, &left) == 0 && left > 0)
		return 1;
	return read(fd, &byte, 1) < 0 && errno == EAGAIN;
}

static bool is_awaited(const struct path *fifo, uint32_t what)
{
	uint64_t dev = (uint64_t)fifo->stx.stx_dev_major << 32 | fifo->stx.stx_dev_minor;

	for (const struct task *t = task_list; t != NULL; t = t->next)
		if (t->state == TASK_PARKED && t->park.kind == PARK_FD && t->park.bits == what &&
			t->park.key[0] == dev && t->park.key[1] == fifo->stx.stx_ino)
			return true;
	return false;
}

enum fifo_answer fifo_open(struct task *t, const struct path *fifo, uint64_t flags)
{
	bool reads = (flags & O_ACCMODE) == O_RDONLY;
	int other = 0;

	tighten(t);
	/* An anonymous pipe, by /proc/self/fd, opens at once as well. */
	if (fifo->kind == FS_FIXED || (flags & O_ACCMODE) == O_RDWR || flags & O_NONBLOCK)
		return FIFO_NATIVE;
	other = reads ? has_writer(fifo) : has_reader(fifo);
	if (other != 0)
		return FIFO_NATIVE;
	if (reads && is_awaited(fifo, WAITS_TO_WRITE))
		return FIFO_NONBLOCK;
	t->park.bits = reads ? WAITS_TO_READ : WAITS_TO_WRITE;
	t->park.key[0] = (uint64_t)fifo->stx.stx_dev_major << 32 | fifo->stx.stx_dev_minor;
	t->park.key[1] = fifo->stx.stx_ino;
	(void)park_on(t, PARK_FD);
	return FIFO_PARKED;
}
