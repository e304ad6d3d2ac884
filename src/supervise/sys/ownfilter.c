/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seccomp filters that guests install for themselves, and the other way to watch a program's calls,
 * ptrace.
 *
 * How it works: the kernel runs the guest's filter beside ours, and the stricter answer counts. An
 * error, a trap or a kill is the same every time and never reaches us, which is fine. What it would
 * hand to a tracer stops as our own stops do, with the guest's data (of equal answers that of the
 * youngest filter counts), and fails as where there is no tracer (engine/stop.c). Our own strict
 * filter goes in first: later the guest's might refuse the call for it. A listener would decide
 * calls of one guest in another: it is refused as by a kernel before 5.0.
 */
#include "supervise/sys/ownfilter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

#include "supervise/engine/filter.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/engine/tighten.h"
#include "supervise/report.h"

/* Those of Linux 5.0 without the listener; TSYNC_ESRCH and younger ones belong to that. */
enum {
	FLAGS = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG |
		SECCOMP_FILTER_FLAG_SPEC_ALLOW,
};

/* What could be taken for a stop of ours. */
static void judge_instruction(const struct sock_filter *i)
{
	if (BPF_CLASS(i->code) != BPF_RET)
		return;
	if (BPF_RVAL(i->code) != BPF_K)
		report_not_enforced(
			REASON_GUEST_FILTER, "the guest's seccomp filter computes its answers");
	else if (i->k == FILTER_STOP)
		report_not_enforced(REASON_GUEST_FILTER,
			"the guest's seccomp filter hands calls to a tracer with our own data");
}

static void judge_filter(struct task *t, uint64_t addr)
{
	struct sock_fprog prog;
	if (gmem_read(t, addr, &prog, sizeof(prog)) < 0 || prog.len > BPF_MAXINSNS)
		return; /* the kernel refuses it */
	for (size_t at = 0; at < prog.len; at++) {
		struct sock_filter i;
		if (gmem_read(t, (uint64_t)(uintptr_t)(prog.filter + at), &i, sizeof(i)) < 0)
			return;
		judge_instruction(&i);
	}
}

enum act ownfilter_install(struct task *t, struct call *c, uint64_t flags, uint64_t prog)
{
	if (flags & ~(uint64_t)FLAGS)
		return call_done(c, -EINVAL);
	tighten(t);
	if (t->at_exit)
		return ACT_LEAVE; /* comes again, from the start */
	judge_filter(t, prog);
	return ACT_LEAVE;
}

void ownfilter_installed(struct task *t, const struct call *c)
{
	if (c->result >= 0)
		t->proc->own_filter = true;
}

static enum act is_available(struct task *t, struct call *c)
{
	uint32_t action;

	if (c->arg[1] == 0 && gmem_read(t, c->arg[2], &action, sizeof(action)) == 0 &&
		action == SECCOMP_RET_USER_NOTIF)
		return call_done(c, -EOPNOTSUPP);
	return ACT_NATIVE;
}

enum act enter_seccomp(struct task *t, struct call *c)
{
	switch ((unsigned)c->arg[0]) {
	case SECCOMP_SET_MODE_FILTER:
		return ownfilter_install(t, c, c->arg[1], c->arg[2]);
	case SECCOMP_GET_ACTION_AVAIL:
		return is_available(t, c);
	case SECCOMP_SET_MODE_STRICT: /* as the kernel says where there is a filter */
	default:
		return call_done(c, -EINVAL);
	}
}

void leave_seccomp(struct task *t, struct call *c)
{
	if (c->arg[0] == SECCOMP_SET_MODE_FILTER)
		ownfilter_installed(t, c);
}

enum act enter_ptrace(struct task *t, struct call *c)
{
	(void)t;
	report_not_enforced(REASON_TRACING_REFUSED,
		"ptrace is refused (EPERM): every program in the sandbox is traced by its "
		"supervisor, and has no second tracer; use debuggers and strace outside");
	return call_done(c, -EPERM);
}
