/* SPDX-License-Identifier: Apache-2.0 */
/* Which parked tasks a change of a descriptor concerns: see fdwait.h. */
#include "supervise/engine/fdwait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

enum {
	IN = POLLIN | POLLPRI | POLLRDNORM | POLLRDBAND | POLLRDHUP,
	OUT = POLLOUT | POLLWRNORM | POLLWRBAND,
	CLASSES = 3,	    /* to read, to write, neither: a number of its own for each */
	HIGHEST = 12288,    /* a higher number would make the table of descriptors large */
	LOWEST = 1024,	    /* below are the supervisor's own */
	FRUITLESS_MAX = 16, /* hints in a row that the handler did not confirm */
	BATCH = 64,
};

static int epoll = -1;
static struct task **slots; /* NULL: free */
static uint32_t slot_room, generation, highest;

static int number_of(uint32_t slot, uint32_t class)
{
	return (int)(highest - slot * CLASSES - class);
}

static void start(void)
{
	struct rlimit limit = {0};

	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		limit.rlim_cur = 0;
	highest = limit.rlim_cur < HIGHEST ? (uint32_t)limit.rlim_cur : HIGHEST;
	if (highest > 0)
		highest--;
	slot_room = highest > LOWEST ? (highest - LOWEST) / CLASSES : 0;
	slots = mem_alloc((slot_room + 1) * sizeof(*slots));
}

static bool take_slot(struct task *t)
{
	if (!highest)
		start();
	if (t->fd_slot)
		return true;
	for (uint32_t i = 0; i < slot_room; i++)
		if (!slots[i]) {
			slots[i] = t;
			t->fd_slot = i + 1;
			return true;
		}
	return false;
}

void fdwait_begin(struct task *t)
{
	t->fd_generation = ++generation;
	t->park.watched = false;
	t->park.unwatchable = t->park.fruitless > FRUITLESS_MAX;
}

void fdwait_never(struct task *t)
{
	t->park.watched = false;
	t->park.unwatchable = true;
}

static bool watch(struct task *t, int fd, uint32_t class, uint32_t events)
{
	struct epoll_event event = {.events = events | EPOLLONESHOT};
	int number = number_of(t->fd_slot - 1, class);
	autoclose int named = fcntl(fd, F_DUPFD_CLOEXEC, number);

	if (named != number)
		return false;
	event.data.u64 = (uint64_t)(t->fd_slot - 1) << 32 | t->fd_generation;
	/* Most wait for what they waited for before. */
	if (epoll_ctl(epoll, EPOLL_CTL_MOD, named, &event) == 0)
		return true;
	return errno == ENOENT && epoll_ctl(epoll, EPOLL_CTL_ADD, named, &event) == 0;
}

void fdwait_add(struct task *t, int fd, short events)
{
	bool ok = !t->park.unwatchable && take_slot(t);

	if (ok && (events & IN))
		ok = watch(t, fd, 0, EPOLLIN | EPOLLRDHUP | (events & POLLPRI ? EPOLLPRI : 0u));
	if (ok && (events & OUT))
		ok = watch(t, fd, 1, EPOLLOUT);
	if (ok && !(events & (IN | OUT)))
		ok = watch(t, fd, 2, 0);
	if (ok)
		t->park.watched = true;
	else
		fdwait_never(t);
}

static struct task **ready; /* by order of creation */
static size_t ready_room;

static void insert(size_t count, struct task *t)
{
	if (count == ready_room) {
		ready_room = ready_room ? ready_room * 2 : BATCH;
		ready = mem_grow(ready, ready_room, sizeof(struct task *));
	}
	for (; count > 0 && ready[count - 1]->ordinal > t->ordinal; count--)
		ready[count] = ready[count - 1];
	ready[count] = t;
}

static bool is_of(const struct task *t, uint32_t of_generation)
{
	return t && t->state == TASK_PARKED && t->park.kind == PARK_FD && t->park.watched &&
	       t->fd_generation == of_generation;
}

size_t fdwait_take(struct task ***ret_tasks)
{
	struct epoll_event events[BATCH];
	size_t count = 0;
	int n = BATCH;

	if (epoll < 0)
		return 0;
	while (n == BATCH) {
		n = epoll_wait(epoll, events, BATCH, 0);
		for (int i = 0; i < n; i++) {
			struct task *t = slots[events[i].data.u64 >> 32];

			if (!is_of(t, (uint32_t)events[i].data.u64))
				continue;
			t->park.watched = false; /* named once, though several may be ready */
			insert(count++, t);
		}
	}
	*ret_tasks = ready;
	return count;
}

void fdwait_forget(struct task *t)
{
	if (t->fd_slot)
		slots[t->fd_slot - 1] = NULL;
	t->fd_slot = 0;
}
