/* SPDX-License-Identifier: Apache-2.0 */
/* File times on the logical clock: see ftime.h. */
#include "supervise/files/ftime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "supervise/engine/clock.h"
#include "supervise/files/inode.h"
#include "supervise/io/inotify.h"
#include "supervise/io/writers.h"

#define NS_PER_S 1000000000ll
/* A mtime that no file has: the record has not seen the present content, it shows now. */
#define UNSEEN INT64_MIN

enum {
	CANDIDATES_FIRST = 64,
	WATCHED_MAX = 512, /* files that wait for the end because of a watcher */
};

/* What is known of a file that the guest changed; inode.times - 1 is its place. */
struct record {
	struct ftimes shown;
	int64_t seen_ns; /* the physical mtime that goes with shown.mtime_ns */
	uint32_t number; /* the inode it belongs to; another one took the place if it differs */
	bool candidate;
};

/* A file whose physical times are to be settled. */
struct candidate {
	int fd; /* O_PATH */
	uint32_t times;
	uint32_t number;
	bool open; /* for the scan of writers */
};

static int64_t input_last_ns; /* epoch - 1 s */
static int64_t setup_from_ns;
static struct record *records;
static uint32_t record_count, record_room;
static uint32_t record_free; /* a chain through seen_ns */
static struct candidate *candidates;
static uint32_t candidate_count, candidate_room;
static uint32_t candidate_limit = CANDIDATES_FIRST;

void ftime_init(uint64_t epoch_ns, int64_t setup_ns)
{
	input_last_ns = (int64_t)epoch_ns - NS_PER_S;
	setup_from_ns = setup_ns;
}

static int64_t stamp_ns(const struct statx_timestamp *ts)
{
	int64_t ns = 0;

	if (__builtin_mul_overflow(ts->tv_sec, NS_PER_S, &ns) ||
		__builtin_add_overflow(ns, (int64_t)ts->tv_nsec, &ns))
		return ts->tv_sec < 0 ? INT64_MIN + 1 : INT64_MAX;
	return ns;
}

/* The rule for inputs, and for what set-up made. */
static int64_t input_time(int64_t real_ns)
{
	int64_t late = 0, order = 0;

	if (real_ns < input_last_ns)
		return real_ns;
	if (real_ns >= setup_from_ns)
		return input_last_ns;
	late = real_ns - input_last_ns;
	order = late / NS_PER_S * 3 + late % NS_PER_S / (NS_PER_S / 3 + 1);
	return input_last_ns + (order < NS_PER_S ? order : NS_PER_S - 1);
}

static void show_input(const struct statx *stx, bool fixed, struct ftimes *ret)
{
	int64_t ns = fixed ? input_last_ns : input_time(stamp_ns(&stx->stx_mtime));

	*ret = (struct ftimes){ns, ns, ns, ns};
}

static struct record *record_of(const struct inode *i)
{
	struct record *r = i != NULL && i->times != 0 ? &records[i->times - 1] : NULL;

	return r != NULL && r->number == i->number ? r : NULL;
}

/* The content may have changed since the record saw it: only regular files are written unseen. */
static bool is_written(const struct record *r, const struct statx *stx)
{
	return S_ISREG(stx->stx_mode) && r->seen_ns != stamp_ns(&stx->stx_mtime);
}

void ftime_show(const struct statx *stx, bool fixed, struct ftimes *ret)
{
	const struct record *r = fixed ? NULL : record_of(inode_find(stx));

	if (r == NULL) {
		show_input(stx, fixed || S_ISCHR(stx->stx_mode) || S_ISBLK(stx->stx_mode), ret);
		return;
	}
	*ret = r->shown;
	if (is_written(r, stx))
		ret->mtime_ns = ret->ctime_ns = (int64_t)clock_realtime();
}

/* A free record's place, plus 1. */
static uint32_t record_new(void)
{
	uint32_t times = record_free;

	if (times != 0) {
		record_free = (uint32_t)records[times - 1].seen_ns;
		return times;
	}
	if (record_count == record_room) {
		record_room = record_room == 0 ? 64 : record_room * 2;
		records = mem_grow(records, record_room, sizeof(*records));
	}
	return ++record_count;
}

/* The file's record, made from its state when there is none. */
static struct record *record_get(struct inode *i, const struct statx *stx)
{
	struct record *r = record_of(i);

	if (r != NULL)
		return r;
	if (i->times == 0)
		i->times = record_new();
	r = &records[i->times - 1];
	*r = (struct record){.number = i->number, .seen_ns = stamp_ns(&stx->stx_mtime)};
	show_input(stx, false, &r->shown);
	return r;
}

static void candidate_drop(uint32_t at)
{
	struct candidate *c = &candidates[at];
	struct record *r = &records[c->times - 1];

	if (r->number == c->number)
		r->candidate = false;
	fd_close(&c->fd);
	candidates[at] = candidates[--candidate_count];
}

/*
 * A watcher would be told of times that are set. They are left as they are then, until the end; the
 * next write is known by another physical time, once the host's has moved on: by a tick.
 */
static void wait_beyond(int64_t physical_ns)
{
	const struct timespec a_little = {.tv_nsec = 500000};
	struct timespec now;

	while (syscall(SYS_clock_gettime, CLOCK_REALTIME_COARSE, &now) == 0 &&
		now.tv_sec * NS_PER_S + now.tv_nsec <= physical_ns &&
		physical_ns - now.tv_sec * NS_PER_S < NS_PER_S * 2)
		(void)nanosleep(&a_little, NULL);
}

/* Makes this instant the time of what was written since the last one. */
static void candidate_settle(struct candidate *c)
{
	struct record *r = &records[c->times - 1];
	int64_t now = (int64_t)clock_realtime();
	struct timespec ts[2];
	struct statx stx;

	if (r->number != c->number || statx(c->fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stx) != 0)
		return;
	if (is_written(r, &stx))
		r->shown.mtime_ns = r->shown.ctime_ns = now;
	r->seen_ns = stamp_ns(&stx.stx_mtime);
	if (r->seen_ns == r->shown.mtime_ns)
		return;
	if (inotify_is_used() && candidate_count < WATCHED_MAX) {
		wait_beyond(r->seen_ns);
		return;
	}
	for (int i = 0; i < 2; i++) {
		int64_t ns = i == 0 ? r->shown.atime_ns : r->shown.mtime_ns;
		int64_t rest = (ns % NS_PER_S + NS_PER_S) % NS_PER_S;

		ts[i] = (struct timespec){(ns - rest) / NS_PER_S, rest};
	}
	/* May fail where the guest may write but is not the owner; the record knows better then. */
	if (utimensat(c->fd, "", ts, AT_EMPTY_PATH) == 0 &&
		statx(c->fd, "", AT_EMPTY_PATH, STATX_MTIME, &stx) == 0)
		r->seen_ns = stamp_ns(&stx.stx_mtime);
}

/* Marks those that somebody may still write to without our seeing it. */
static void candidates_find_open(void)
{
	bool unsure = false;

	for (uint32_t k = 0; k < candidate_count; k++) {
		/* To look at one means to open it, of which a watcher would be told. */
		int writers = inotify_is_used() ? -1 : writers_of(candidates[k].fd);

		candidates[k].open = writers != 0;
		unsure = unsure || writers < 0;
	}
	if (!unsure)
		return;
	writers_scan();
	for (uint32_t k = 0; k < candidate_count; k++)
		if (candidates[k].open)
			candidates[k].open = writers_scanned(candidates[k].fd);
	writers_scan_finish();
}

/* Lets go of what nobody can write to any more; those are settled as of now. */
static void candidates_collect(void)
{
	if (inotify_is_used() && candidate_count < WATCHED_MAX)
		return; /* their times are set at the end */
	candidates_find_open();
	for (uint32_t k = candidate_count; k > 0; k--) {
		if (candidates[k - 1].open)
			continue;
		candidate_settle(&candidates[k - 1]);
		candidate_drop(k - 1);
	}
	candidate_limit =
		candidate_count * 2 > CANDIDATES_FIRST ? candidate_count * 2 : CANDIDATES_FIRST;
}

/* A descriptor of our own that is no open file: it neither writes nor keeps a lock or a reader
 * waiting. */
static int hold(int fd)
{
	char link[32];
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0 && flags & O_PATH)
		return fcntl(fd, F_DUPFD_CLOEXEC, 0);
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return open(link, O_PATH | O_CLOEXEC);
}

static void candidate_add(struct inode *i, struct record *r, int fd)
{
	uint32_t times = i->times, number = i->number;
	int own = -1;

	if (r->candidate)
		return;
	if (candidate_count >= candidate_limit)
		candidates_collect();
	own = hold(fd);
	if (own < 0)
		return; /* no descriptor left: the record alone keeps its time */
	if (candidate_count == candidate_room) {
		candidate_room = candidate_room == 0 ? CANDIDATES_FIRST : candidate_room * 2;
		candidates = mem_grow(candidates, candidate_room, sizeof(*candidates));
	}
	candidates[candidate_count++] = (struct candidate){own, times, number, false};
	records[times - 1].candidate = true;
}

/* The inode in its present state, carrying over what was known before a copy on writing. */
static struct inode *inode_now(const struct statx *stx, const struct statx *before)
{
	if (before != NULL && (before->stx_ino != stx->stx_ino || inode_find(stx) == NULL))
		inode_moved(before, stx);
	return inode_get(stx);
}

void ftime_changed(int fd, const struct statx *stx, const struct statx *before, int what)
{
	int64_t now = (int64_t)clock_realtime();
	struct inode *i = what & FTIME_CREATED ? inode_create(stx) : inode_now(stx, before);
	struct record *r = record_get(i, before != NULL ? before : stx);

	r->shown.ctime_ns = now;
	if (what & (FTIME_MTIME | FTIME_CREATED)) {
		r->shown.mtime_ns = now;
		r->seen_ns = UNSEEN;
	}
	if (what & FTIME_CREATED)
		r->shown.atime_ns = r->shown.btime_ns = now;
	if (what & (FTIME_MTIME | FTIME_CREATED))
		candidate_add(i, r, fd);
}

void ftime_writable(int fd, const struct statx *stx, const struct statx *before)
{
	struct inode *i = inode_now(stx, before);
	struct record *r = record_get(i, before != NULL ? before : stx);

	candidate_add(i, r, fd);
}

void ftime_set(int fd, const struct statx *stx, const struct statx *before, const int64_t *atime_ns,
	const int64_t *mtime_ns)
{
	struct inode *i = inode_now(stx, before);
	struct record *r = record_get(i, before);

	r->shown.ctime_ns = (int64_t)clock_realtime();
	if (atime_ns != NULL)
		r->shown.atime_ns = *atime_ns;
	if (mtime_ns != NULL) {
		r->shown.mtime_ns = *mtime_ns;
		r->seen_ns = stamp_ns(&stx->stx_mtime);
	}
	/* The kernel was given its own "now" for what the guest wanted to be ours. */
	if (mtime_ns != NULL && r->seen_ns != *mtime_ns)
		candidate_add(i, r, fd);
}

void ftime_gone(const struct statx *stx)
{
	struct inode *i = inode_find(stx);
	struct record *r = record_of(i);
	uint32_t freed = 0;

	for (uint32_t k = candidate_count; r != NULL && r->candidate && k > 0; k--)
		if (candidates[k - 1].times == i->times) {
			candidate_settle(&candidates[k - 1]);
			candidate_drop(k - 1);
		}
	freed = inode_gone(stx);
	if (freed != 0) {
		records[freed - 1] = (struct record){.seen_ns = record_free};
		record_free = freed;
	}
}

void ftime_settle(void)
{
	for (uint32_t k = 0; k < candidate_count; k++)
		candidate_settle(&candidates[k]);
	if (candidate_count != 0)
		candidates_collect();
}
