/* SPDX-License-Identifier: Apache-2.0 */
/* select and pselect6: answered in the supervisor, time-outs on the logical clock. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "base/fd.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/io/io.h"
#include "supervise/io/ready.h"

enum { SETS = 3, WORD_BITS = 64, WORDS = READY_MAX / WORD_BITS };

/* What poll must say for each set: fs/select.c. */
static const short asked[SETS] = {
	POLLRDNORM | POLLRDBAND | POLLIN, POLLWRBAND | POLLWRNORM | POLLOUT, POLLPRI};
static const short counts[SETS] = {POLLRDNORM | POLLRDBAND | POLLIN | POLLHUP | POLLERR | POLLNVAL,
	POLLWRBAND | POLLWRNORM | POLLOUT | POLLERR | POLLNVAL, POLLPRI | POLLNVAL};

struct sets {
	size_t n, bytes;
	uint64_t addr[SETS];
	uint64_t in[SETS][WORDS], out[SETS][WORDS];
};

static struct sets sets;
static struct pollfd fds[READY_MAX];

static bool has(const uint64_t *set, size_t i)
{
	return set[i / WORD_BITS] >> (i % WORD_BITS) & 1;
}

static int read_sets(struct task *t, const struct call *c)
{
	int n = (int)c->arg[0];

	if (n < 0)
		return -EINVAL;
	memset(&sets, 0, sizeof(sets));
	sets.n = n > READY_MAX ? READY_MAX : (size_t)n;
	sets.bytes = (sets.n + WORD_BITS - 1) / WORD_BITS * sizeof(uint64_t);
	for (int s = 0; s < SETS; s++) {
		sets.addr[s] = c->arg[1 + s];
		if (sets.addr[s] && gmem_read(t, sets.addr[s], sets.in[s], sets.bytes) < 0)
			return -EFAULT;
	}
	return 0;
}

static bool is_open(struct task *t, int number)
{
	autoclose int fd = task_dup_fd(t, number);

	return fd >= 0;
}

/* How many bits are ready, or -EBADF. */
static int64_t evaluate(struct task *t, bool *ret_external, size_t *ret_count)
{
	size_t count = 0;
	int64_t ready = 0;

	for (size_t i = 0; i < sets.n; i++) {
		short events = 0;

		for (int s = 0; s < SETS; s++)
			if (has(sets.in[s], i))
				events = (short)(events | asked[s]);
		if (events)
			fds[count++] = (struct pollfd){.fd = (int)i, .events = events};
	}
	*ret_count = count;
	if (ready_poll(t, fds, count, ret_external) == 0)
		return 0;
	for (size_t k = 0; k < count; k++) {
		size_t i = (size_t)fds[k].fd;

		/* A descriptor that is only a path (O_PATH) counts as ready for everything. */
		if ((fds[k].revents & POLLNVAL) && !is_open(t, fds[k].fd))
			return -EBADF;
		for (int s = 0; s < SETS; s++) {
			if (!has(sets.in[s], i) || !(fds[k].revents & counts[s]))
				continue;
			sets.out[s][i / WORD_BITS] |= 1ull << (i % WORD_BITS);
			ready++;
		}
	}
	return ready;
}

static enum act finish(struct task *t, struct call *c, int64_t ready, const struct ready_wait *w)
{
	if (w->external)
		io_external_read(t, 0);
	for (int s = 0; s < SETS; s++)
		if (sets.addr[s] && gmem_write(t, sets.addr[s], sets.out[s], sets.bytes) < 0)
			return call_done(c, -EFAULT);
	return call_done(c, ready);
}

static enum act select_any(struct task *t, struct call *c, struct ready_wait *w)
{
	int r = read_sets(t, c);
	size_t count = 0;
	int64_t ready;
	enum act act;

	if (r < 0)
		return call_done(c, r);
	ready = evaluate(t, &w->external, &count);
	if (ready < 0)
		return call_done(c, ready);
	if (ready > 0)
		return finish(t, c, ready, w);
	act = ready_wait(t, c, w);
	if (act == ACT_PARK)
		ready_watch(t, fds, count);
	return act == ACT_DONE ? finish(t, c, 0, w) : act;
}

enum act enter_select(struct task *t, struct call *c)
{
	struct ready_wait w = {0};
	struct timeval tv;
	enum act act;
	uint64_t left;

	if (c->arg[4]) {
		if (gmem_read(t, c->arg[4], &tv, sizeof(tv)) < 0)
			return call_done(c, -EFAULT);
		if (tv.tv_usec < 0 || ready_set_limit(&w, tv.tv_sec + tv.tv_usec / 1000000,
					      tv.tv_usec % 1000000 * 1000) < 0)
			return call_done(c, -EINVAL);
	}
	act = select_any(t, c, &w);
	if (act != ACT_DONE || !w.has_limit)
		return act;
	left = ready_left(t, &w);
	tv.tv_sec = (time_t)(left / 1000000000);
	tv.tv_usec = (suseconds_t)(left % 1000000000 / 1000);
	/* As in the kernel, a read-only timeval is no error. */
	if (gmem_write(t, c->arg[4], &tv, sizeof(tv)) < 0)
		return act;
	return act;
}

enum act enter_pselect6(struct task *t, struct call *c)
{
	struct ready_wait w = {0};
	uint64_t mask[2] = {0, 0}; /* address, size */
	int r = ready_limit(t, c->arg[4], &w);
	enum act act;
	uint64_t left;
	struct timespec ts;

	if (r == 0 && c->arg[5])
		r = gmem_read(t, c->arg[5], mask, sizeof(mask));
	if (r == 0)
		r = ready_mask(t, mask[0], mask[1], &w);
	if (r < 0)
		return call_done(c, r);
	act = select_any(t, c, &w);
	if (act != ACT_DONE || !w.has_limit)
		return act;
	left = ready_left(t, &w);
	ts.tv_sec = (time_t)(left / 1000000000);
	ts.tv_nsec = (long)(left % 1000000000);
	if (gmem_write(t, c->arg[4], &ts, sizeof(ts)) < 0)
		return act;
	return act;
}
