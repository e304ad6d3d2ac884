/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a deadlock: see deadlock.h. */
#include "supervise/engine/deadlock.h"

#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fd.h"
#include "supervise/engine/cycle.h"
#include "supervise/engine/futex.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/task.h"
#include "supervise/io/fdkind.h"
#include "supervise/report.h"
#include "supervise/spin/spin.h"
#include "wire/sysnr.h"

enum {
	TEXT = 16384,	/* the whole of it; the frames of the single tasks have no bound */
	TASKS_MAX = 64, /* in the text */
	POLL_SHOWN = 8,
	SMALL = 65536,
};

struct text {
	char *at;
	size_t size, len;
};

static void PRINTF_LIKE(2, 3) add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (t->len >= t->size)
		return;
	va_start(ap, fmt);
	n = vsnprintf(t->at + t->len, t->size - t->len, fmt, ap);
	va_end(ap);
	t->len += n > 0 ? (size_t)n : 0;
}

/* How many arguments the calls have that can wait; -1 where an architecture has no such call. */
static const struct {
	int nr, count;
} takes[] = {
	{NR_futex, 6},
	{NR_futex_waitv, 5},
	{NR_epoll_pwait2, 5},
	{NR_recvmmsg, 5},
	{NR_waitid, 5},
	{NR_msgrcv, 5},
	{NR_mq_timedreceive, 5},
	{NR_mq_timedsend, 5},
	{NR_ppoll, 5},
	{NR_select, 5},
	{NR_pselect6, 6},
	{NR_wait4, 4},
	{NR_epoll_wait, 4},
	{NR_epoll_pwait, 5},
	{NR_openat, 4},
	{NR_recvfrom, 6},
	{NR_sendto, 6},
	{NR_semtimedop, 4},
	{NR_msgsnd, 4},
	{NR_rt_sigtimedwait, 4},
	{NR_sendfile, 4},
	{NR_splice, 6},
	{NR_pause, 0},
	{NR_flock, 2},
	{NR_rt_sigsuspend, 2},
};

static int argument_count(int nr)
{
	for (size_t i = 0; i < ARRAY_LEN(takes); i++)
		if (takes[i].nr == nr)
			return takes[i].count;
	return 3;
}

static void list_arguments(const struct task *t, struct text *out)
{
	int count = argument_count(t->call.nr);

	for (int i = 0; i < count; i++) {
		uint64_t v = t->call.arg[i];
		const char *comma = i ? ", " : "";

		/* Small numbers and their negatives, of 32 bits too; else an address. */
		if (v < SMALL || v > UINT64_MAX - SMALL)
			add(out, "%s%lld", comma, (long long)v);
		else if (v <= UINT32_MAX && v > UINT32_MAX - SMALL)
			add(out, "%s%d", comma, (int32_t)v);
		else
			add(out, "%s%#llx", comma, (unsigned long long)v);
	}
}

static const char *kind_text(const struct gfd *g)
{
	switch (g->kind) {
	case FDKIND_PIPE:
		return "a pipe";
	case FDKIND_SOCKET:
		return "a socket";
	case FDKIND_TTY:
		return "a terminal";
	case FDKIND_FILE:
		return "a file";
	case FDKIND_RANDOM:
		return "a random device";
	case FDKIND_ANON:
		break;
	}
	return NULL;
}

static void describe_fd(struct task *t, int number, struct text *out)
{
	auto_gfd struct gfd g = GFD_NONE;
	char name[64];

	add(out, "descriptor %d", number);
	if (gfd_open(t, number, &g) < 0)
		return;
	if (kind_text(&g)) {
		add(out, ", %s", kind_text(&g));
		return;
	}
	gfd_anon_name(&g, name, sizeof(name));
	if (name[0])
		add(out, ", %s", name);
}

/* Who holds the POSIX lock that t wants. */
static void describe_lock(struct task *t, struct text *out)
{
	auto_gfd struct gfd g = GFD_NONE;
	struct flock lock;

	add(out, "a lock on ");
	describe_fd(t, (int)t->call.arg[0], out);
	if (t->call.nr == NR_fcntl && (int)t->call.arg[1] == F_SETLKW &&
		gfd_open(t, (int)t->call.arg[0], &g) == 0 &&
		gmem_read(t, t->call.arg[2], &lock, sizeof(lock)) == 0 &&
		fcntl(g.fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid > 0)
		add(out, ", held by pid %d", lock.l_pid);
}

static void describe_poll(struct task *t, struct text *out)
{
	struct pollfd fds[POLL_SHOWN];
	uint32_t count = (uint32_t)t->call.arg[1], shown = count < POLL_SHOWN ? count : POLL_SHOWN;

	if (count == 0 || gmem_read(t, t->call.arg[0], fds, shown * sizeof(fds[0])) < 0) {
		add(out, "a signal");
		return;
	}
	for (uint32_t i = 0; i < shown; i++) {
		add(out, "%s", i ? "; " : "");
		describe_fd(t, fds[i].fd, out);
	}
	if (count > shown)
		add(out, "; and %u more", count - shown);
}

static void describe_ready(struct task *t, struct text *out)
{
	int nr = t->call.nr;

	if (nr == NR_poll || nr == NR_ppoll)
		describe_poll(t, out);
	else if (nr == NR_select || nr == NR_pselect6)
		add(out, "one of its descriptors");
	else if (nr == NR_flock || nr == NR_fcntl)
		describe_lock(t, out);
	else if (nr == NR_open || nr == NR_openat || nr == NR_openat2)
		add(out, "the other end of a FIFO");
	else
		describe_fd(t, (int)t->call.arg[0], out);
}

static void describe_child(const struct task *t, struct text *out)
{
	int64_t id = (int32_t)t->call.arg[t->call.nr == NR_waitid ? 1 : 0];
	bool one = t->call.nr == NR_waitid ? (int)t->call.arg[0] == P_PID : id > 0;

	if (one)
		add(out, "child %lld", (long long)id);
	else
		add(out, "any child");
}

static void describe_park(struct task *t, struct text *out)
{
	char futex[160];
	const struct task *owner;

	switch (t->park.kind) {
	case PARK_FUTEX:
		futex_describe(t, futex, sizeof(futex));
		owner = cycle_owner(t);
		add(out, "%s", futex);
		if (owner && !strstr(futex, "task"))
			add(out, ", of task %u", owner->ordinal);
		return;
	case PARK_FD:
		describe_ready(t, out);
		return;
	case PARK_CHILD:
		describe_child(t, out);
		return;
	case PARK_TIME:
		break;
	}
	if (t->call.nr == NR_semop || t->call.nr == NR_semtimedop)
		add(out, "a semaphore");
	else if (t->call.nr == NR_msgrcv || t->call.nr == NR_msgsnd ||
		 t->call.nr == NR_mq_timedreceive || t->call.nr == NR_mq_timedsend)
		add(out, "a message queue");
	else
		add(out, "a signal");
}

/* What t waits for; false when it is not a task that waits. */
static bool describe(struct task *t, struct text *out)
{
	switch (t->state) {
	case TASK_PARKED:
		describe_park(t, out);
		return true;
	case TASK_STOPPED:
		add(out, "SIGCONT");
		return true;
	case TASK_VFORK:
		add(out, "exec or the end of task %u",
			t->vfork_child ? t->vfork_child->ordinal : 0);
		return true;
	case TASK_SPINNING:
		spin_describe(t, out->at, out->size);
		out->len = strlen(out->at);
		return true;
	case TASK_RUNNABLE:
	case TASK_RUNNING:
	case TASK_NATIVE:
	case TASK_LEFT:
		break;
	}
	return false;
}

static void read_name(const struct task *t, char *ret_name, size_t size)
{
	char path[48];
	autoclose int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", t->proc->pid, t->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, ret_name, size - 1);
	ret_name[n > 0 ? n - 1 : 0] = '\0'; /* without its newline */
}

void deadlock_report(void)
{
	static char all[TEXT];
	struct text out = {all, sizeof(all), 0};
	char cycle[512];
	unsigned count = 0;

	add(&out, "every task waits for something that cannot happen");
	for (struct task *t = task_list; t; t = t->next) {
		char what[600], arguments[200] = "", name[32];
		struct text w = {what, sizeof(what), 0}, a = {arguments, sizeof(arguments), 0};
		bool at_call = t->state == TASK_PARKED && t->row;

		if (!describe(t, &w))
			continue;
		if (at_call)
			list_arguments(t, &a);
		read_name(t, name, sizeof(name));
		report_waiter(t, name, at_call ? t->row->name : "", arguments, what);
		if (++count > TASKS_MAX)
			continue;
		add(&out, "; task %u (pid %d, tid %d, %s) waits ", t->ordinal, t->proc->pid, t->tid,
			name);
		if (at_call)
			add(&out, "in %s(%s) ", t->row->name, arguments);
		add(&out, "for %s", what);
	}
	if (count > TASKS_MAX)
		add(&out, "; and %u more", count - TASKS_MAX);
	cycle_text(cycle, sizeof(cycle));
	if (cycle[0])
		add(&out, "; %s", cycle);
	report_deadlock(all);
}
