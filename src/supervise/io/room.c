/* SPDX-License-Identifier: Apache-2.0 */
/* Known room in a pipe: see room.h. */
#include "supervise/io/room.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/attr.h"
#include "wire/sysnr.h"

enum { PAGE = 4096 };

static struct {
	uint32_t task; /* ordinal; 0: nothing is known */
	int number;
	uint64_t pages; /* free ones */
	uint64_t last;	/* bytes in the last page in use; 0: none is */
} known;

/* Calls that make no descriptor but of plain files, and touch no pipe. */
static const int harmless[] = {NR_write, NR_newfstatat, NR_stat, NR_lstat, NR_fstat, NR_statx,
	NR_getdents64, NR_open, NR_openat, NR_readlink, NR_readlinkat};

void room_forget(void)
{
	known.task = 0;
}

void room_at_call(const struct task *t, int nr)
{
	if (known.task == 0)
		return;
	if (known.task == t->ordinal)
		for (size_t i = 0; i < ARRAY_LEN(harmless); i++)
			if (harmless[i] == nr)
				return;
	room_forget();
}

static bool fits(uint64_t len)
{
	uint64_t odd = len % PAGE, last = known.last, pages;

	if (odd && last && last + odd <= PAGE) {
		last += odd;
		len -= odd;
	}
	pages = (len + PAGE - 1) / PAGE;
	if (pages > known.pages)
		return false;
	known.pages -= pages;
	if (len)
		last = len % PAGE ? len % PAGE : PAGE;
	known.last = last;
	return true;
}

bool room_take(const struct task *t, int number, uint64_t len)
{
	if (known.task != t->ordinal || known.number != number || !fits(len)) {
		room_forget();
		return false;
	}
	return true;
}

bool room_look(const struct task *t, const struct gfd *g, uint64_t len)
{
	int queued = 0, size;

	room_forget();
	if (g->flags & (O_NONBLOCK | O_DIRECT) || len == 0 ||
		ioctl(g->fd, FIONREAD, &queued) != 0 || queued != 0)
		return false;
	size = fcntl(g->fd, F_GETPIPE_SZ);
	if (size < PAGE)
		return false;
	known.pages = (uint64_t)size / PAGE;
	known.last = 0;
	if (!fits(len))
		return false;
	known.task = t->ordinal;
	known.number = g->number;
	return true;
}
