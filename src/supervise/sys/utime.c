/* SPDX-License-Identifier: Apache-2.0 */
/* utimensat and its elders: times that the guest gives are kept; "now" is the logical clock's. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <utime.h>

#include "supervise/engine/clock.h"
#include "supervise/files/ftime.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/engine/note.h"
#include "supervise/files/path.h"
#include "supervise/files/shared.h"

#define NS_PER_S 1000000000ll

static enum act note_times(struct task *t, int dirfd, uint64_t addr, unsigned flags)
{
	struct note *n = note_new(t);
	/* utimensat without a path means the descriptor itself. */
	enum path_answer found = addr == 0 && dirfd >= 0
					 ? path_find_fd(t, dirfd, &n->file)
					 : path_find(t, dirfd, addr, flags, &n->file);

	if (found == PATH_FOUND)
		return ACT_LEAVE;
	note_free(n);
	return ACT_NATIVE;
}

enum act enter_utime(struct task *t, struct call *c)
{
	return note_times(t, AT_FDCWD, c->arg[0], 0);
}

enum act enter_futimesat(struct task *t, struct call *c)
{
	return note_times(t, (int)c->arg[0], c->arg[1], 0);
}

enum act enter_utimensat(struct task *t, struct call *c)
{
	return note_times(t, (int)c->arg[0], c->arg[1],
		(c->arg[3] & AT_SYMLINK_NOFOLLOW ? PATH_NOFOLLOW : 0) |
			(c->arg[3] & AT_EMPTY_PATH ? PATH_EMPTY : 0));
}

static int64_t join(int64_t seconds, int64_t ns)
{
	int64_t all = 0;

	if (__builtin_mul_overflow(seconds, NS_PER_S, &all) ||
		__builtin_add_overflow(all, ns, &all))
		return seconds < 0 ? INT64_MIN + 1 : INT64_MAX;
	return all;
}

/* The kernel did it: ts[0] and ts[1] as for utimensat(2). */
static void times_set(struct task *t, struct call *c, const struct timespec ts[2])
{
	struct note *n = note_find(t);
	int64_t ns[2];
	const int64_t *set[2] = {NULL, NULL};

	if (n == NULL)
		return;
	for (int i = 0; i < 2; i++) {
		ns[i] = ts[i].tv_nsec == UTIME_NOW ? (int64_t)clock_realtime()
						   : join(ts[i].tv_sec, ts[i].tv_nsec);
		set[i] = ts[i].tv_nsec == UTIME_OMIT ? NULL : &ns[i];
	}
	if (c->result == 0 && (set[0] != NULL || set[1] != NULL)) {
		const struct statx before = n->file.stx;

		shared_check(n->file.fd);
		if (path_stat(&n->file) == 0 && n->file.kind == FS_PLAIN)
			ftime_set(n->file.fd, &n->file.stx, &before, set[0], set[1]);
	}
	note_free(n);
}

static const struct timespec both_now[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};

void leave_utimensat(struct task *t, struct call *c)
{
	struct timespec ts[2] = {both_now[0], both_now[1]};

	if (c->arg[2] != 0 && gmem_read(t, c->arg[2], ts, sizeof(ts)) != 0)
		return;
	times_set(t, c, ts);
}

static void set_timevals(struct task *t, struct call *c, uint64_t addr)
{
	struct timeval tv[2];
	struct timespec ts[2] = {both_now[0], both_now[1]};

	if (addr != 0) {
		if (gmem_read(t, addr, tv, sizeof(tv)) != 0)
			return;
		for (int i = 0; i < 2; i++)
			ts[i] = (struct timespec){tv[i].tv_sec, tv[i].tv_usec * 1000};
	}
	times_set(t, c, ts);
}

void leave_utimes(struct task *t, struct call *c)
{
	set_timevals(t, c, c->arg[1]);
}

void leave_futimesat(struct task *t, struct call *c)
{
	set_timevals(t, c, c->arg[2]);
}

void leave_utime(struct task *t, struct call *c)
{
	struct utimbuf buf;
	struct timespec ts[2] = {both_now[0], both_now[1]};

	if (c->arg[1] != 0) {
		if (gmem_read(t, c->arg[1], &buf, sizeof(buf)) != 0)
			return;
		ts[0] = (struct timespec){buf.actime, 0};
		ts[1] = (struct timespec){buf.modtime, 0};
	}
	times_set(t, c, ts);
}
