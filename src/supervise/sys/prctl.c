/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prctl: native for what a process says about itself alone; answered here where the
 * kernel's answer would undo what the sandbox set up, or would differ between hosts.
 */
#include <errno.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <signal.h>

#include "base/attr.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/engine/sched.h"
#include "supervise/engine/task.h"
#include "supervise/sys/ownfilter.h"

enum {
	TIMER_SLACK_NS = 50000, /* the kernel's default */
	MTE_BITS = ~PR_TAGGED_ADDR_ENABLE,
};

static enum act set_dumpable(struct task *t, struct call *c)
{
	if (c->arg[1] > 1)
		return call_done(c, -EINVAL);
	/* Not the kernel's: that would hide the process from the supervisor. */
	t->mm->undumpable = c->arg[1] == 0;
	return call_done(c, 0);
}

static enum act get_dumpable(struct task *t, struct call *c)
{
	return call_done(c, !t->mm->undumpable);
}

/*
 * The kernel would kill in the middle of whatever is going on, and several in its own order.
 * Unlike there, it is the parent's whole process whose end counts, not its thread's.
 */
static enum act set_pdeathsig(struct task *t, struct call *c)
{
	t->proc->dies_with_parent = c->arg[1] == SIGKILL;
	sched_signals_unseen();
	if (t->proc->dies_with_parent)
		call_set_arg(t, 1, 0);
	return ACT_NATIVE;
}

static enum act answer_int(struct task *t, struct call *c, int32_t value)
{
	return call_done(c, gmem_write(t, c->arg[1], &value, sizeof(value)));
}

static enum act get_pdeathsig(struct task *t, struct call *c)
{
	return t->proc->dies_with_parent ? answer_int(t, c, SIGKILL) : ACT_NATIVE;
}

static enum act get_tsc(struct task *t, struct call *c)
{
	return answer_int(t, c, PR_TSC_ENABLE);
}

/* The counter traps already and is answered; a guest cannot have the trap for itself. */
static enum act set_tsc(struct task *t, struct call *c)
{
	(void)t;
	return call_done(c, c->arg[1] == PR_TSC_ENABLE ? 0 : -EINVAL);
}

static enum act set_seccomp(struct task *t, struct call *c)
{
	if (c->arg[1] != SECCOMP_MODE_FILTER)
		return call_done(c, -EINVAL);
	return ownfilter_install(t, c, 0, c->arg[2]);
}

/* Ours are not the guest's to see. */
static enum act get_seccomp(struct task *t, struct call *c)
{
	return call_done(c, t->proc->own_filter ? SECCOMP_MODE_FILTER : SECCOMP_MODE_DISABLED);
}

/* The kernel does it, and the process table has to agree with it. */
static enum act set_subreaper(struct task *t, struct call *c)
{
	t->proc->subreaper = c->arg[1] != 0;
	return ACT_NATIVE;
}

/* As on a CPU that needs none of the mitigations. */
static enum act get_speculation(struct task *t, struct call *c)
{
	(void)t;
	return call_done(c, c->arg[1] <= PR_SPEC_L1D_FLUSH ? PR_SPEC_NOT_AFFECTED : -ENODEV);
}

/* Memory tags would be drawn by the CPU. */
static enum act set_tagged_addr(struct task *t, struct call *c)
{
	(void)t;
	return c->arg[1] & (uint64_t)MTE_BITS ? call_done(c, -EINVAL) : ACT_NATIVE;
}

/*
 * Options by number; without a function the answer is given as it stands. What is not here is
 * another architecture's or younger than the pinned kernel, and gets EINVAL.
 */
static const struct option {
	int number;
	call_enter_fn *enter;
	int answer;
} options[] = {
	{PR_SET_PDEATHSIG, set_pdeathsig, 0},
	{PR_GET_PDEATHSIG, get_pdeathsig, 0},
	{PR_GET_DUMPABLE, get_dumpable, 0},
	{PR_SET_DUMPABLE, set_dumpable, 0},
	{PR_GET_KEEPCAPS, enter_native, 0},
	{PR_SET_KEEPCAPS, enter_native, 0},
	{PR_GET_TIMING, NULL, PR_TIMING_STATISTICAL},
	{PR_SET_NAME, enter_native, 0},
	{PR_GET_NAME, enter_native, 0},
	{PR_GET_SECCOMP, get_seccomp, 0},
	{PR_SET_SECCOMP, set_seccomp, 0},
	{PR_CAPBSET_READ, enter_native, 0},
	{PR_CAPBSET_DROP, enter_native, 0},
	{PR_GET_TSC, get_tsc, 0},
	{PR_SET_TSC, set_tsc, 0},
	{PR_GET_SECUREBITS, enter_native, 0},
	{PR_SET_SECUREBITS, enter_native, 0},
	{PR_SET_TIMERSLACK, NULL, 0},
	{PR_GET_TIMERSLACK, NULL, TIMER_SLACK_NS},
	{PR_TASK_PERF_EVENTS_DISABLE, NULL, 0},
	{PR_TASK_PERF_EVENTS_ENABLE, NULL, 0},
	{PR_MCE_KILL, NULL, 0},
	{PR_MCE_KILL_GET, NULL, PR_MCE_KILL_DEFAULT},
	{PR_SET_MM, NULL, -EPERM},
	{PR_SET_CHILD_SUBREAPER, set_subreaper, 0},
	{PR_GET_CHILD_SUBREAPER, enter_native, 0},
	{PR_SET_NO_NEW_PRIVS, enter_native, 0},
	{PR_GET_NO_NEW_PRIVS, enter_native, 0},
	{PR_SET_THP_DISABLE, NULL, 0}, /* they are off */
	{PR_GET_THP_DISABLE, NULL, 0},
	{PR_CAP_AMBIENT, enter_native, 0},
	{PR_SVE_SET_VL, enter_native, 0}, /* vectors of arm64 are the CPU's, like cpuid */
	{PR_SVE_GET_VL, enter_native, 0},
	{PR_GET_SPECULATION_CTRL, get_speculation, 0},
	{PR_SET_SPECULATION_CTRL, NULL, -ENXIO},
	{PR_PAC_SET_ENABLED_KEYS, enter_native, 0},
	{PR_PAC_GET_ENABLED_KEYS, enter_native, 0},
	{PR_SET_TAGGED_ADDR_CTRL, set_tagged_addr, 0},
	{PR_GET_TAGGED_ADDR_CTRL, enter_native, 0},
	{PR_SET_IO_FLUSHER, NULL, -EPERM},
	{PR_GET_IO_FLUSHER, NULL, -EPERM},
};

enum act enter_prctl(struct task *t, struct call *c)
{
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		const struct option *o = &options[i];
		if (o->number != (int)c->arg[0])
			continue;
		if (!o->enter)
			return call_done(c, o->answer);
		return o->enter(t, c);
	}
	return call_done(c, -EINVAL);
}

void leave_prctl(struct task *t, struct call *c)
{
	if (c->arg[0] == PR_SET_SECCOMP)
		ownfilter_installed(t, c);
}
