/* SPDX-License-Identifier: Apache-2.0 */
/*
 * times and getrusage. CPU time is user time throughout: the CPU clocks, times, getrusage and
 * /proc/PID/stat show the same figure, and a child's is added to its parent's children when the
 * parent waits for it.
 */
#include "supervise/sys/usage.h"

#include <errno.h>
#include <sys/times.h>

#include "supervise/engine/clock.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/sys/time.h"

#define NS_PER_S 1000000000ull

enum { TICK_NS = 10000000 /* sysconf(_SC_CLK_TCK) is 100 */, MAXRSS_KIB = 4096 };

uint64_t usage_cpu_ns(const struct process *p)
{
	return (p->zombie ? p->end_ns : clock_monotonic()) - p->start_ns;
}

struct rusage usage_of(uint64_t cpu_ns)
{
	struct rusage ru = {.ru_maxrss = MAXRSS_KIB};

	ru.ru_utime.tv_sec = (time_t)(cpu_ns / NS_PER_S);
	ru.ru_utime.tv_usec = (suseconds_t)(cpu_ns % NS_PER_S / 1000);
	return ru;
}

void usage_collect(struct process *parent, const struct process *child)
{
	parent->children_ns += usage_cpu_ns(child) + child->children_ns;
}

enum act enter_times(struct task *t, struct call *c)
{
	struct tms tms = {.tms_utime = 0};

	sys_time_read(t);
	tms.tms_utime = (clock_t)(usage_cpu_ns(t->proc) / TICK_NS);
	tms.tms_cutime = (clock_t)(t->proc->children_ns / TICK_NS);
	if (c->arg[0] && gmem_write(t, c->arg[0], &tms, sizeof(tms)) < 0)
		return call_done(c, -EFAULT);
	return call_done(c, (int64_t)(clock_monotonic() / TICK_NS));
}

enum act enter_getrusage(struct task *t, struct call *c)
{
	int32_t who = (int32_t)c->arg[0];
	struct rusage ru;

	if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN && who != RUSAGE_THREAD)
		return call_done(c, -EINVAL);
	sys_time_read(t);
	if (who == RUSAGE_CHILDREN)
		ru = usage_of(t->proc->children_ns);
	else
		ru = usage_of(who == RUSAGE_SELF ? usage_cpu_ns(t->proc)
						 : clock_monotonic() - t->start_ns);
	return call_done(c, gmem_write(t, c->arg[1], &ru, sizeof(ru)));
}
