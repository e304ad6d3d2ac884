/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forced switches: see choice.h.
 *
 * How it works. At a scheduling point a seed's random stream, or the list, says whether the task is
 * to be preempted: before its call (the handler then runs when its turn comes again) or a number of
 * instructions after the call. For those it is stepped one by one: after a stop, their number until
 * any place of the program is the same in each run, which needs no performance counter. A system
 * call on the way is passed in one go; one that is mediated is the next scheduling point, where the
 * plan ends. A step costs 20 to 40 us, so a run has a budget of them.
 *
 * Between two calls some places are of more interest than others: the atomic instructions, with
 * which a program takes and leaves locks that nobody contends, and the program's own code rather
 * than that of its libraries. Most walks count those alone. What is recorded is always the number
 * of all instructions.
 *
 * A seed chooses first how much it interferes: rare and frequent switches find different faults.
 */
#include "supervise/engine/choice.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "base/bytes.h"
#include "base/chacha20.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/sched.h"
#include "supervise/engine/sigmask.h"
#include "supervise/report.h"

enum {
	STEP_BUDGET = 40000, /* of one run, under a seed */
	WALK_STEPS = 6000,   /* of one walk: past a lazy binding or two */
	PASSED_MAX = 1000,   /* then it is the task's turn, whatever the seed says */
	INSTRUCTION = 15,    /* bytes of the longest */
};

static bool is_on;
static const struct contract *contract;
static unsigned char key[32];
static unsigned char drawn[64];
static size_t drawn_left;
static uint64_t draw_block;
static uint32_t budget;
static struct {
	unsigned before_odds, after_odds; /* once in so many points */
	unsigned birth_odds;
	unsigned pick_odds; /* of four */
	bool stays_low;	    /* who was preempted waits until the others wait */
} temper;
static uint32_t last;	    /* ordinal of the task that ran last */
static uint64_t last_point; /* its scheduling points */
static int last_call;	    /* and the call it made there */
static struct {
	bool is_due;
	struct contract_switch at; /* next 0: drawn when the queue is known */
	int64_t ip;
} forced;

/* A number below n. */
static uint32_t draw(uint32_t n)
{
	uint32_t v;

	if (!drawn_left) {
		chacha20_stream(key, 0, draw_block++, drawn, sizeof(drawn));
		drawn_left = sizeof(drawn);
	}
	v = bytes_load_u32(drawn + sizeof(drawn) - drawn_left);
	drawn_left -= 4;
	return (uint32_t)((uint64_t)v * n >> 32);
}

void choice_init(const struct contract *c)
{
	static const char label[] = "sandglass/sched/v1";

	contract = c;
	is_on = c->sched_seed || c->switch_count;
	if (!c->sched_seed)
		return;
	report_assumption(REASON_NO_PMU,
		"switches of a seed lie at most %d instructions after a scheduling point, since "
		"performance counters are not used",
		WALK_STEPS);
	memcpy(key, label, sizeof(label));
	bytes_store_u64(key + 24, c->sched_seed);
	budget = STEP_BUDGET;
	temper.before_odds = 2u << draw(7);
	temper.after_odds = 2u << draw(7);
	temper.birth_odds = 1 + draw(2);
	temper.pick_odds = draw(3);
	temper.stays_low = draw(4) != 0;
}

static const struct contract_switch *listed(uint32_t task, uint64_t point)
{
	size_t low = 0, high = contract->switch_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct contract_switch *s = &contract->switches[mid];

		if (s->task == task && s->point == point)
			return s;
		if (s->task < task || (s->task == task && s->point < point))
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

void choice_cancel(struct task *t)
{
	t->choice.way = CHOICE_FREE;
	t->choice.is_passing = false;
	t->choice.ip = 0;
}

/* Its next scheduling point. False: nobody chooses here. */
static bool at_point(struct task *t)
{
	choice_cancel(t);
	if (!is_on || !t->mm->vdso) /* the supervisor's own child before exec */
		return false;
	t->choice.point++;
	last_point = t->choice.point;
	last_call = t->choice.has_called ? t->call.nr : -1;
	return true;
}

static void preempt(struct task *t, uint32_t steps, int64_t ip)
{
	forced.is_due = true;
	forced.at.task = t->ordinal;
	forced.at.point = t->choice.point;
	forced.at.steps = steps;
	forced.ip = ip;
	t->choice.is_low = temper.stays_low;
	t->give_way = true;
}

/* Somebody else could run once t stands. */
static bool has_rival(const struct task *t)
{
	if (sched_runnable())
		return true;
	for (const struct task *q = task_list; q; q = q->next)
		if (q != t && q->state == TASK_PARKED && q->park.kind == PARK_FD)
			return true;
	return false;
}

static void walk(struct task *t, uint32_t left, enum choice_unit unit, uint32_t next)
{
	/* The trap of a step takes such settings of a guest away. */
	if (left && sigmask_catches(t, SIGTRAP))
		return;
	t->choice.way = CHOICE_CALL;
	t->choice.left = left;
	t->choice.done = 0;
	t->choice.unit = unit;
	forced.at.next = next;
}

/* Odds: once in so many. */
static void plan_walk(struct task *t, uint32_t odds, bool at_once)
{
	uint32_t kind;

	if (draw(odds) || !has_rival(t) || !budget)
		return;
	kind = draw(8);
	if (kind == 0 || at_once)
		walk(t, 0, CHOICE_ANY, 0);
	else if (kind == 1)
		walk(t, 1 + draw(16u << draw(7)), CHOICE_ANY, 0);
	else if (kind < 5 || !arch_has_atomics)
		walk(t, 1 + draw(2u << draw(9)), CHOICE_OWN, 0);
	else
		walk(t, 1 + draw(4), CHOICE_ATOMIC, 0);
}

bool choice_before_call(struct task *t)
{
	const struct contract_switch *s;

	t->choice.has_called = true;
	if (!at_point(t))
		return false;
	s = listed(t->ordinal, t->choice.point);
	if (s && s->steps)
		walk(t, s->steps - 1, CHOICE_ANY, s->next);
	if (contract->sched_seed && draw(temper.before_odds) != 0)
		plan_walk(t, temper.after_odds, false);
	else if (contract->sched_seed || (s && !s->steps)) {
		forced.at.next = s ? s->next : 0;
		preempt(t, 0, 0);
		t->choice.holds = true;
	}
	return t->choice.holds;
}

/* A point without a call that could wait: only what comes after it is to choose. */
static void at_place(struct task *t, enum choice_way way)
{
	const struct contract_switch *s;

	if (!at_point(t))
		return;
	s = listed(t->ordinal, t->choice.point);
	if (s && s->steps)
		walk(t, s->steps - 1, CHOICE_ANY, s->next);
	else if (contract->sched_seed)
		plan_walk(t, temper.birth_odds, way == CHOICE_CALL && draw(2));
	if (t->choice.way == CHOICE_CALL)
		t->choice.way = way;
	if (way == CHOICE_STEPS && !t->choice.left)
		choice_cancel(t); /* before its first instruction: not to begin is no switch */
}

void choice_at_birth(struct task *t)
{
	choice_cancel(t);
	t->choice.has_called = true;
	if (t->state == TASK_RUNNING)
		at_place(t, CHOICE_CALL);
}

void choice_answered(struct task *t, bool at_exit)
{
	if (at_exit && t->choice.way == CHOICE_CALL)
		t->choice.way = CHOICE_STEPS;
}

/* One more instruction is done, and t stands before the next. */
static void step_done(struct task *t)
{
	struct choice *c = &t->choice;
	struct regs regs;
	bool counts = true;

	c->done++;
	if (budget)
		budget--;
	if (arch_regs_read(t->tid, &regs) < 0)
		return;
	if (c->unit == CHOICE_OWN)
		counts = arch_ip(&regs) < ARCH_LIBRARIES;
	else if (c->unit == CHOICE_ATOMIC)
		counts = c->is_atomic;
	c->ip = arch_ip(&regs);
	c->left -= counts;
	if (c->left == 0) {
		choice_cancel(t);
		preempt(t, 1 + c->done, (int64_t)arch_ip(&regs));
	} else if (contract->sched_seed && (!budget || c->done >= WALK_STEPS)) {
		choice_cancel(t);
	}
}

bool choice_passed(struct task *t)
{
	struct choice *c = &t->choice;

	if (c->way == CHOICE_ENTRY) {
		c->way = CHOICE_CALL;
		c->is_passing = true;
		return true;
	}
	if (c->way != CHOICE_CALL)
		return false;
	c->way = CHOICE_STEPS;
	if (c->is_passing) {
		c->is_passing = c->is_atomic = false;
		step_done(t);
		c->ip = 0;
	} else if (c->left == 0) {
		choice_cancel(t);
		preempt(t, 1, 0);
	}
	return true;
}

/* The trap of a step opens the mask for itself: signal(7) has no word of it, kernel/signal.c has.
 */
static void restore_mask(struct task *t)
{
	uint64_t mask;

	if (!t->choice.trap_blocked)
		return;
	if (ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(mask), &mask) < 0)
		return;
	mask |= 1ull << (SIGTRAP - 1);
	if (ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(mask), &mask) < 0 && errno != ESRCH)
		abort();
}

bool choice_stepped(struct task *t, int sig)
{
	siginfo_t info;

	if (sig != SIGTRAP || t->choice.way != CHOICE_STEPS ||
		ptrace(PTRACE_GETSIGINFO, t->tid, 0, &info) < 0 || info.si_code <= 0 ||
		info.si_code == SI_KERNEL) {
		t->choice.ip =
			0; /* a signal, or a breakpoint of the guest's own: a handler may follow */
		return false;
	}
	restore_mask(t);
	step_done(t);
	if (info.si_code ==
		SIGTRAP) /* the beginning of a handler, which may have a mask of its own */
		t->choice.ip = 0;
	return true;
}

/* Where the walk goes on after something else than a step: only then can the mask be another. */
static int see_place(struct task *t)
{
	struct regs regs;
	uint64_t mask;

	if (arch_regs_read(t->tid, &regs) < 0 ||
		ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(mask), &mask) < 0)
		return -1;
	t->choice.ip = arch_ip(&regs);
	t->choice.trap_blocked = mask >> (SIGTRAP - 1) & 1;
	return 0;
}

/* The next instruction decides how it is gone over. */
static int step_request(struct task *t)
{
	unsigned char code[INSTRUCTION];
	struct choice *c = &t->choice;
	ssize_t n;

	if (!c->ip && see_place(t) < 0) {
		choice_cancel(t);
		return PTRACE_CONT;
	}
	n = gmem_read_some(t, c->ip, code, sizeof(code));
	if (n <= 0) {
		choice_cancel(t);
		return PTRACE_CONT;
	}
	c->is_atomic = arch_is_atomic(code, (size_t)n);
	if (!arch_is_call(code, (size_t)n))
		return PTRACE_SINGLESTEP;
	c->way = CHOICE_ENTRY;
	return PTRACE_SYSCALL;
}

int choice_request(struct task *t)
{
	if (!is_on)
		return t->leaving ? PTRACE_SYSCALL : PTRACE_CONT;
	if (!t->choice.has_run) {
		t->choice.has_run = true;
		if (t->mm->vdso)
			at_place(t, CHOICE_STEPS);
	}
	if (t->leaving)
		return PTRACE_SYSCALL;
	switch (t->choice.way) {
	case CHOICE_FREE:
		return PTRACE_CONT;
	case CHOICE_CALL:
	case CHOICE_ENTRY:
		return PTRACE_SYSCALL;
	case CHOICE_STEPS:
		break;
	}
	return step_request(t);
}

static struct task *find(struct task *head, uint32_t ordinal)
{
	for (struct task *t = head; t; t = t->queue_next)
		if (t->ordinal == ordinal)
			return t;
	return NULL;
}

/* Anybody of the queue but the one who was preempted; who has waited for very long comes first. */
static struct task *draw_task(struct task *head, const struct task *but)
{
	uint32_t n = 0;

	for (struct task *t = head; t; t = t->queue_next) {
		if (t != but && t->choice.passed >= PASSED_MAX)
			return t;
		n += t != but;
	}
	if (!n)
		return head;
	n = draw(n);
	for (struct task *t = head; t; t = t->queue_next)
		if (t != but && n-- == 0)
			return t;
	return head;
}

/* The running task gave way by itself: whose turn is it, if not that of the queue's head? */
static struct task *after_wait(struct task *head)
{
	const struct contract_switch *s;
	struct task *ran = NULL, *t = NULL;

	for (struct task *q = task_list; q && !ran; q = q->next)
		if (q->ordinal == last)
			ran = q;
	last_point = ran ? ++ran->choice.point : last_point + 1;
	forced.at = (struct contract_switch){.task = last, .point = last_point};
	forced.ip = -1;
	s = listed(last, last_point);
	if (s && !s->steps)
		t = find(head, s->next);
	else if (contract->sched_seed && head->queue_next && draw(4) < temper.pick_odds)
		t = draw_task(head, NULL);
	else if (temper.stays_low && head->choice.passed < PASSED_MAX)
		for (t = head; t && t->choice.is_low;)
			t = t->queue_next;
	return t ? t : head;
}

static struct task *after_force(struct task *head)
{
	struct task *preempted = find(head, forced.at.task), *t;

	/* Nobody else can run after all: it goes on, as if nothing had been. */
	if (!head || (head == preempted && !head->queue_next))
		return head;
	if (contract->sched_seed && !forced.at.next)
		return draw_task(head, preempted);
	t = find(head, forced.at.next);
	if (t && t != preempted)
		return t;
	return head == preempted && head->queue_next ? head->queue_next : head;
}

bool choice_is_on(void)
{
	return is_on;
}

struct task *choice_next(struct task *head)
{
	struct task *t, *by_rule = head;

	if (!is_on || !head)
		return head;
	if (forced.is_due) {
		struct task *preempted = find(head, forced.at.task);

		by_rule = preempted ? preempted : head; /* it may have died meanwhile */
		t = after_force(head);
	} else
		t = after_wait(head);
	forced.is_due = false;
	if (t != by_rule) {
		forced.at.next = t->ordinal;
		report_forced(&forced.at, last_call, forced.ip);
	}
	for (struct task *q = head; q; q = q->queue_next)
		q->choice.passed = q == t ? 0 : q->choice.passed + 1;
	t->choice.is_low = false;
	last = t->ordinal;
	last_point = t->choice.point;
	return t;
}
