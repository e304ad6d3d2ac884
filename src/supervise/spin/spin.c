/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks that wait without a call: see spin.h. */
#include "supervise/spin/spin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>

#include "base/mem.h"
#include "supervise/engine/choice.h"
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
	/* Where nobody could run in its place a look finds out no more than a deadlock. */
	ALONE_TICKS = 16,
	ALONE_STEPS = 4096,
	RETRY_STEPS = 384,
};
/*
 * Guest CPU time in which nothing but the same words moved, and without a stop, before a loop that
 * recurs but counts gives way: long, since a long sum of unoptimised code looks the same. Longer
 * where that is likely: several words move, or what it may wait for is on its own stack. And for
 * one that had to before.
 */
static const uint64_t force_first_ns = 5000000000, force_doubtful_ns = 60000000000,
		      force_again_ns = 50000000;
/* CPU time after which a task that seems to compute is looked at for a count. */
static const uint64_t count_first_ns = 2000000000;
/* CPU time without a stop, while a timer is armed, after which that is told. */
static const uint64_t tell_timer_ns = 10000000000;

/* A loop that is known: what its task waits for. */
struct spin {
	uint64_t ip;
	uint64_t awaited; /* one of the words */
	struct words words;
	bool woken; /* it goes on from there, and may come back soon */
};

static struct spin_finding finding;
static uint64_t timers_after_ns; /* 0: never */
static bool timer_told;

static struct {
	unsigned ticks, wait; /* since the last look, until the next */
	unsigned steps;
	unsigned quiet;		  /* ticks with user time and without a transfer */
	struct host_times times;  /* at the last tick */
	uint64_t cpu_ns;	  /* at the start */
	uint64_t key, key_cpu_ns; /* of the impure loop that it is in, and since when */
	bool has_key;
	bool started;
	bool fire;  /* the interruption is for a timer */
	bool asked; /* an interruption is on its way */
} watch;

void spin_init(uint64_t after_ns)
{
	timers_after_ns = after_ns;
}

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
	watch.has_key = false;
	watch.fire = false;
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

/* Nobody could run in its place, whatever it does. */
static bool is_alone(void)
{
	uint64_t due;

	return !task_list->next && !timer_next(&due);
}

/* It computes while a timer is armed, whose time does not come: true when it shall all the same. */
static bool wants_timer(const struct host_times *now)
{
	uint64_t spent = now->cpu_ns - watch.cpu_ns;

	if (timers_after_ns)
		return spent >= timers_after_ns;
	if (spent >= tell_timer_ns && !timer_told) {
		timer_told = true;
		report_not_enforced(REASON_TIMER_WAITS,
			"the program has computed for 10 seconds while a timer is armed: computing "
			"takes no time inside, so it will not come due; if the program waits for "
			"it, --timers-after SECONDS lets it");
	}
	return false;
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
	if (!host_task_times(t->tid, &now))
		return;
	may = may_interrupt(&now);
	watch.times = now;
	watch.fire = timer_next(&due) && wants_timer(&now) && may;
	if (!may || (++watch.ticks < watch.wait * (is_alone() ? ALONE_TICKS : 1u) && !watch.fire))
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
	t->spin->awaited = f->awaits == WORDS_NONE ? 0 : f->awaited;
	t->spin->woken = true;
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
	bool doubtful = f->moved_count + f->counters > 1 || f->awaits == WORDS_STACK;
	uint64_t limit = doubtful ? force_doubtful_ns : force_first_ns;
	char place[256];

	/* Another loop, or in other values, than at the last look: it gets somewhere. */
	if (!watch.has_key || watch.key != f->key) {
		watch.key_cpu_ns = watch.has_key ? watch.times.cpu_ns : watch.cpu_ns;
		watch.key = f->key;
		watch.has_key = true;
	}
	if (watch.times.cpu_ns - watch.key_cpu_ns < (t->forced ? force_again_ns : limit))
		return;
	mapped_place(t, f->ip, place, sizeof(place));
	if (f->moved)
		report_not_enforced(REASON_IMPURE_SPIN,
			"task %u spins at %s and changes memory at %#llx meanwhile", t->ordinal,
			place, (unsigned long long)f->moved);
	else if (f->counters)
		report_not_enforced(REASON_IMPURE_SPIN,
			"task %u spins at %s and counts in a register meanwhile", t->ordinal,
			place);
	else
		report_not_enforced(REASON_IMPURE_SPIN,
			"task %u spins at %s, and what it does there is not known", t->ordinal,
			place);
	t->forced = true;
	give_way(t);
}

/* Lets the earliest timer come due, as asked for; not while it reads the time from two words. */
static void fire_timer(struct task *t, const struct regs *regs)
{
	enum { VDSO_MAX = 65536 };
	uint64_t due;

	if (arch_ip(regs) - t->mm->vdso < VDSO_MAX || !timer_next(&due))
		return;
	report_not_enforced(REASON_TIMER_FORCED,
		"--timers-after: a timer came due while task %u computed, at an instant that is "
		"not the "
		"same in another run",
		t->ordinal);
	sched_let_time_pass(due);
	t->give_way = true;
	spin_restart();
}

/* A spin that counts in a register looks like computing; only after a while is it worth a look. */
static enum spin_verdict examine(struct task *t)
{
	unsigned steps = watch.steps;
	enum spin_verdict verdict;

	if (is_alone() && steps > ALONE_STEPS)
		steps = ALONE_STEPS;
	verdict = spin_examine(t, steps, 0, &finding);
	if (verdict == SPIN_COMPUTES && !t->forced && !is_alone() &&
		watch.times.cpu_ns - watch.cpu_ns >= count_first_ns)
		verdict = spin_examine_count(t, &finding);
	return verdict;
}

bool spin_on_stop(struct task *t)
{
	struct regs regs;

	if (!watch.asked)
		return false;
	watch.asked = false;
	if (arch_regs_read(t->tid, &regs) < 0 || arch_is_in_call(&regs))
		return true;
	if (watch.fire) {
		fire_timer(t, &regs);
		return true;
	}
	switch (examine(t)) {
	case SPIN_PURE:
		sleep_on(t, &finding);
		break;
	case SPIN_IMPURE:
		if (is_alone()) {
			wait_longer(); /* it would give way to nobody */
			break;
		}
		/* That nothing else recurs takes all the steps each time. */
		if (finding.counters)
			wait_longer();
		else if (watch.wait > 4)
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

bool spin_retry(struct task *t)
{
	struct spin *s = t->spin;

	if (!s || !s->woken || t->signal || choice_is_on())
		return false;
	s->woken = false;
	t->state = TASK_RUNNING;
	switch (spin_examine(t, RETRY_STEPS, s->ip, &finding)) {
	case SPIN_PURE:
		sleep_on(t, &finding);
		return true;
	case SPIN_LEFT:
		return true;
	case SPIN_IMPURE:
	case SPIN_COMPUTES:
	default:
		break;
	}
	return false;
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
	if (t->spin->awaited)
		snprintf(ret_text, size, "memory at %#llx to change, in a loop at %#llx",
			(unsigned long long)t->spin->awaited, (unsigned long long)t->spin->ip);
	else
		snprintf(ret_text, size, "nothing, in a loop without an end at %#llx",
			(unsigned long long)t->spin->ip);
}

void spin_forget(struct task *t)
{
	free(t->spin);
	t->spin = NULL;
}
