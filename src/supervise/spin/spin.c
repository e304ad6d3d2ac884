/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks that wait without a call: see spin.h. */
#include "supervise/spin/spin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>

#include "base/mem.h"
#include "supervise/engine/mapped.h"
#include "supervise/engine/sched.h"
#include "supervise/engine/stop.h"
#include "supervise/host.h"
#include "supervise/report.h"
#include "supervise/spin/examine.h"

enum {
	STEPS_FIRST = 1024, /* a step costs about 20 us: a fifth of the first tick */
	STEPS_MOST = 65536,
	TICKS_MOST = 256,
	IDLE_FULL = 20, /* an idle act that counts as a whole streak (sched.c) */
};
/*
 * Guest CPU time without a stop before a loop that recurs but counts gives way: long, since a long
 * sum of unoptimised code looks the same. And for one that had to before.
 */
static const uint64_t force_first_ns = 5000000000, force_again_ns = 50000000;

/* A loop that is known: what its task waits for. */
struct spin {
	uint64_t ip;
	struct words words;
};

static struct {
	unsigned ticks, wait; /* since the last look, until the next */
	unsigned steps;
	unsigned quiet;		 /* ticks with user time and without a transfer */
	struct host_times times; /* at the last tick */
	uint64_t cpu_ns;	 /* at the start */
	bool started, forced;
	bool asked; /* an interruption is on its way */
} watch;

void spin_restart(void)
{
	watch.started = false;
	watch.asked = false;
}

void spin_stopped(bool at_call)
{
	watch.started = false;
	if (!at_call)
		watch.asked = false; /* should it come yet, it is passed over */
}

static void start(struct task *t)
{
	watch.started = true;
	watch.ticks = watch.quiet = 0;
	watch.wait = 1;
	watch.steps = STEPS_FIRST;
	if (!host_task_times(t->tid, &watch.times))
		watch.started = false;
	watch.cpu_ns = watch.times.cpu_ns;
}

/*
 * An interruption must not meet a call of the guest that would end early because of it: long reads
 * of some devices do. So t has to be in user mode all the time, or to make other calls, with user
 * mode in between, for several ticks.
 */
static bool may_interrupt(const struct host_times *now)
{
	enum { QUIET_TICKS = 3 };
	const struct host_times *last = &watch.times;

	if (now->user == last->user || now->transfers != last->transfers ||
		now->transfers == UINT64_MAX)
		watch.quiet = 0;
	else
		watch.quiet++;
	return now->user != last->user &&
	       (now->system == last->system || watch.quiet >= QUIET_TICKS);
}

void spin_tick(struct task *t)
{
	struct host_times now;
	bool may;
	uint64_t due;

	if (t->leaving || watch.asked)
		return;
	if (!watch.started) {
		start(t);
		return;
	}
	/* Nobody could run in its place, whatever it does. */
	if (!task_list->next && !timer_next(&due))
		return;
	if (!host_task_times(t->tid, &now))
		return;
	may = may_interrupt(&now);
	watch.times = now;
	if (!may || ++watch.ticks < watch.wait)
		return;
	watch.ticks = 0;
	watch.asked = ptrace(PTRACE_INTERRUPT, t->tid, 0, 0) == 0;
}

static void wait_longer(void)
{
	if (watch.wait < TICKS_MOST)
		watch.wait *= 2;
	if (watch.steps < STEPS_MOST)
		watch.steps *= 2;
}

static void sleep_on(struct task *t, const struct spin_finding *f)
{
	if (!t->spin)
		t->spin = mem_alloc(sizeof(*t->spin));
	t->spin->ip = f->ip;
	t->spin->words = f->words;
	t->state = TASK_SPINNING;
	sched_spinning();
}

static void give_way(struct task *t)
{
	sched_idle(t, IDLE_FULL);
	spin_restart();
}

/* It recurs, and what it does meanwhile is not nothing. */
static void force(struct task *t, const struct spin_finding *f)
{
	char place[256];

	if (watch.times.cpu_ns - watch.cpu_ns < (t->forced ? force_again_ns : force_first_ns))
		return;
	mapped_place(t, f->ip, place, sizeof(place));
	if (f->moved)
		report_not_enforced(REASON_IMPURE_SPIN,
			"task %u spins at %s and changes memory at %#llx meanwhile", t->ordinal,
			place, (unsigned long long)f->moved);
	else
		report_not_enforced(REASON_IMPURE_SPIN,
			"task %u spins at %s, and what it does there is not known", t->ordinal,
			place);
	t->forced = true;
	give_way(t);
}

bool spin_on_stop(struct task *t)
{
	static struct spin_finding finding;
	struct regs regs;

	if (!watch.asked)
		return false;
	watch.asked = false;
	if (arch_regs_read(t->tid, &regs) < 0 || arch_is_in_call(&regs))
		return true;
	switch (spin_examine(t, watch.steps, &finding)) {
	case SPIN_PURE:
		sleep_on(t, &finding);
		break;
	case SPIN_IMPURE:
		if (watch.wait > 4)
			watch.wait = 4;
		force(t, &finding);
		break;
	case SPIN_COMPUTES:
		/* Said already of this task; now it counts in a register, say: the others shall go
		 * on. */
		if (t->forced)
			give_way(t);
		else
			wait_longer();
		break;
	case SPIN_LEFT:
	default:
		break;
	}
	return true;
}

bool spin_at_call(struct task *t)
{
	struct regs regs;

	if (!watch.asked)
		return false;
	watch.asked = false;
	regs = *stop_regs(t);
	if (!arch_can_inject(&regs))
		return false;
	return arch_call_reissue(t->tid, &regs, &t->call, 0) == 0;
}

bool spin_is_over(struct task *t)
{
	return !words_are_same(&t->spin->words, t);
}

void spin_describe(const struct task *t, char *ret_text, size_t size)
{
	snprintf(ret_text, size, "memory to change, in a loop at %#llx",
		(unsigned long long)t->spin->ip);
}

void spin_forget(struct task *t)
{
	free(t->spin);
	t->spin = NULL;
}
