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
	uint64_t size; /* in pages; 0: not asked for yet */
	uint64_t used; /* of them */
	uint64_t last; /* bytes in the last one used; 0: none is */
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

static bool fits(uint64_t len, uint64_t size)
{
	uint64_t odd = len % PAGE, last = known.last, pages;

	if (odd && last && last + odd <= PAGE) {
		last += odd;
		len -= odd;
	}
	pages = (len + PAGE - 1) / PAGE;
	if (known.used + pages > size)
		return false;
	known.used += pages;
	if (len)
		last = len % PAGE ? len % PAGE : PAGE;
	known.last = last;
	return true;
}

bool room_take(const struct task *t, int number, uint64_t len)
{
	if (known.task == t->ordinal && known.number == number) {
		if (known.size == 0)
			return false; /* room_look asks */
		if (fits(len, known.size))
			return true;
	}
	room_forget();
	return false;
}

static bool is_empty(const struct gfd *g)
{
	int queued = 0;

	return ioctl(g->fd, FIONREAD, &queued) == 0 && queued == 0;
}

bool room_look(const struct task *t, const struct gfd *g, uint64_t len)
{
	bool again = known.task == t->ordinal && known.number == g->number;
	int size = PAGE; /* any pipe has that */

	room_forget();
	if (g->flags & (O_NONBLOCK | O_DIRECT) || len == 0)
		return false;
	if (!again) {
		if (!is_empty(g))
			return false;
		known.used = known.last = 0;
	}
	/* A single small write, as between two that take turns, need not know. */
	if (again || len > PAGE)
		size = fcntl(g->fd, F_GETPIPE_SZ);
	if (size < PAGE || !fits(len, (uint64_t)size / PAGE))
		return false;
	known.size = again || len > PAGE ? (uint64_t)size / PAGE : 0;
	known.task = t->ordinal;
	known.number = g->number;
	return true;
}
