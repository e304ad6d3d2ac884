/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Priorities, policies and CPUs that guests ask for. One task runs at a time on one CPU and the
 * order is ours, so all of it is accepted as an unprivileged Linux process may ask for it, and
 * changes nothing; what is asked back is the default, whatever the supervisor was started with.
 */
#include <errno.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/main.h"
#include "supervise/engine/task.h"
#include "wire/sysnr.h"

enum {
	NICE_ZERO = 20,	    /* getpriority answers 20 - nice */
	SLICE_NS = 4000000, /* a tick of the pinned kernel's 250 Hz */
	RT_MAX = 99,
	ATTR_MIN = 48, /* SCHED_ATTR_SIZE_VER0 */
};

/* struct sched_attr of sched_setattr(2); the kernel's header and the C library's exclude each
 * other. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t util_min, util_max;
};
_Static_assert(sizeof(struct attr) == 56, "SCHED_ATTR_SIZE_VER1");

enum access { ASK, CHANGE };

/* 0, or the error for a thread id that a guest names: itself, a guest, or the supervisor. */
static int check_target(uint64_t arg, enum access access)
{
	pid_t pid = (pid_t)arg;
	if (pid < 0)
		return -EINVAL;
	if (pid == 1)
		return access == ASK ? 0 : -EPERM;
	return pid == 0 || task_find(pid) ? 0 : -ESRCH;
}

/* What sched_setscheduler would say to a process without privilege and with RLIMIT_RTPRIO 0. */
static int check_policy(uint32_t policy, int64_t priority)
{
	switch (policy & ~(uint32_t)SCHED_RESET_ON_FORK) {
	case SCHED_OTHER:
	case SCHED_BATCH:
	case SCHED_IDLE:
		return priority == 0 ? 0 : -EINVAL;
	case SCHED_FIFO:
	case SCHED_RR:
		return priority >= 1 && priority <= RT_MAX ? -EPERM : -EINVAL;
	case SCHED_DEADLINE:
		return -EPERM;
	default:
		return -EINVAL;
	}
}

enum act enter_sched_setaffinity(struct task *t, struct call *c)
{
	unsigned char first = 0;
	if (c->arg[1] && gmem_read(t, c->arg[2], &first, sizeof(first)) < 0)
		return call_done(c, -EFAULT);
	int error = (pid_t)c->arg[0] < 0 ? -ESRCH : check_target(c->arg[0], CHANGE);
	if (error)
		return call_done(c, error);
	/* There is CPU 0 alone. */
	return call_done(c, first & 1 ? 0 : -EINVAL);
}

enum act enter_sched_getscheduler(struct task *t, struct call *c)
{
	(void)t;
	int error = check_target(c->arg[0], ASK);
	return call_done(c, error ? error : SCHED_OTHER);
}

enum act enter_sched_setscheduler(struct task *t, struct call *c)
{
	int32_t priority;
	if (!c->arg[2] || (int32_t)c->arg[1] < 0)
		return call_done(c, -EINVAL);
	if (gmem_read(t, c->arg[2], &priority, sizeof(priority)) < 0)
		return call_done(c, -EFAULT);
	int error = check_target(c->arg[0], CHANGE);
	return call_done(c, error ? error : check_policy((uint32_t)c->arg[1], priority));
}

enum act enter_sched_getparam(struct task *t, struct call *c)
{
	static const int32_t priority = 0;
	if (!c->arg[1])
		return call_done(c, -EINVAL);
	int error = check_target(c->arg[0], ASK);
	return call_done(c, error ? error : gmem_write(t, c->arg[1], &priority, sizeof(priority)));
}

enum act enter_sched_setparam(struct task *t, struct call *c)
{
	int32_t priority;
	if (!c->arg[1] || (pid_t)c->arg[0] < 0)
		return call_done(c, -EINVAL);
	if (gmem_read(t, c->arg[1], &priority, sizeof(priority)) < 0)
		return call_done(c, -EFAULT);
	int error = check_target(c->arg[0], CHANGE);
	return call_done(c, error ? error : check_policy(SCHED_OTHER, priority));
}

enum act enter_sched_getattr(struct task *t, struct call *c)
{
	size_t size = (uint32_t)c->arg[2];
	if (!c->arg[1] || c->arg[3] || size < ATTR_MIN || size > (size_t)sysconf(_SC_PAGESIZE))
		return call_done(c, -EINVAL);
	int error = check_target(c->arg[0], ASK);
	if (error)
		return call_done(c, error);
	struct attr attr = {.policy = SCHED_OTHER};
	if (size > sizeof(attr))
		size = sizeof(attr);
	attr.size = (uint32_t)size;
	return call_done(c, gmem_write(t, c->arg[1], &attr, size));
}

enum act enter_sched_setattr(struct task *t, struct call *c)
{
	struct attr attr;
	if (!c->arg[1] || c->arg[2])
		return call_done(c, -EINVAL);
	if (gmem_read(t, c->arg[1], &attr, ATTR_MIN) < 0)
		return call_done(c, -EFAULT);
	if (attr.size && attr.size < ATTR_MIN)
		return call_done(c, -E2BIG);
	int error = check_target(c->arg[0], CHANGE);
	if (!error)
		error = check_policy(attr.policy, attr.priority);
	if (!error && attr.nice < 0)
		error = -EPERM;
	return call_done(c, error);
}

enum act enter_sched_rr_get_interval(struct task *t, struct call *c)
{
	static const struct timespec slice = {.tv_nsec = SLICE_NS};
	int error = check_target(c->arg[0], ASK);
	return call_done(c, error ? error : gmem_write(t, c->arg[1], &slice, sizeof(slice)));
}

/* 0, or the error for whom getpriority and setpriority name. */
static int check_whom(uint64_t which, uint64_t who, enum access access)
{
	switch ((int)which) {
	case PRIO_PROCESS:
		return (pid_t)who < 0 ? -ESRCH : check_target(who, access);
	case PRIO_PGRP:
		for (struct process *p = process_list; p; p = p->next)
			if (!who || (!p->zombie && getpgid(p->pid) == (pid_t)who))
				return 0;
		return -ESRCH;
	case PRIO_USER:
		return !who || (uint32_t)who == contract_get()->uid ? 0 : -ESRCH;
	default:
		return -EINVAL;
	}
}

enum act enter_getpriority(struct task *t, struct call *c)
{
	(void)t;
	int error = check_whom(c->arg[0], c->arg[1], ASK);
	return call_done(c, error ? error : NICE_ZERO);
}

enum act enter_setpriority(struct task *t, struct call *c)
{
	(void)t;
	int error = check_whom(c->arg[0], c->arg[1], CHANGE);
	if (!error && (int)c->arg[2] < 0)
		error = -EACCES;
	return call_done(c, error);
}

static int check_io_target(uint64_t which, uint64_t who, enum access access)
{
	switch ((int)which) {
	case IOPRIO_WHO_PROCESS:
		return check_whom(PRIO_PROCESS, who, access);
	case IOPRIO_WHO_PGRP:
		return check_whom(PRIO_PGRP, who, access);
	case IOPRIO_WHO_USER:
		return check_whom(PRIO_USER, who, access);
	default:
		return -EINVAL;
	}
}

enum act enter_ioprio_get(struct task *t, struct call *c)
{
	(void)t;
	int error = check_io_target(c->arg[0], c->arg[1], ASK);
	return call_done(c, error ? error : (int)IOPRIO_PRIO_VALUE(IOPRIO_CLASS_NONE, 0));
}

enum act enter_ioprio_set(struct task *t, struct call *c)
{
	(void)t;
	unsigned class = (unsigned)c->arg[2] >> IOPRIO_CLASS_SHIFT;
	unsigned level = (unsigned)c->arg[2] & ((1u << IOPRIO_CLASS_SHIFT) - 1);
	if (class == IOPRIO_CLASS_RT)
		return call_done(c, -EPERM);
	if (class > IOPRIO_CLASS_IDLE || (class == IOPRIO_CLASS_NONE && level))
		return call_done(c, -EINVAL);
	return call_done(c, check_io_target(c->arg[0], c->arg[1], CHANGE));
}
