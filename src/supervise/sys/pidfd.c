/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pidfd_getfd: a descriptor of another guest. Who may is the rule of the ptrace_scope that
 * /proc/sys shows, 1: a process takes from itself and its descendants, whatever the host's kernel
 * has. The kernel makes the duplicate.
 */
#include <errno.h>

#include "supervise/engine/handlers.h"
#include "supervise/engine/tighten.h"
#include "supervise/io/fdkind.h"
#include "supervise/report.h"

static bool is_descendant(const struct process *p, const struct process *of)
{
	while (p && p != of)
		p = process_find(p->parent);
	return p != NULL;
}

/* PR_SET_DUMPABLE 0 keeps others away. */
static bool is_open_to_others(const struct process *p)
{
	for (const struct task *t = task_list; t != NULL; t = t->next)
		if (t->proc == p)
			return !t->mm->undumpable;
	return true;
}

enum act enter_pidfd_getfd(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;
	struct process *target = NULL;
	uint64_t pid = 0;

	if ((uint32_t)c->arg[2] != 0 || gfd_open(t, (int)c->arg[0], &g) < 0 ||
		!gfd_info(&g, "Pid", 10, &pid))
		return ACT_NATIVE; /* EINVAL, EBADF, ESRCH */
	target = process_find((pid_t)pid);
	if (pid == 1 || (target != NULL && target != t->proc &&
				(!is_descendant(target, t->proc) || !is_open_to_others(target))))
		return call_done(c, -EPERM);
	tighten(t);
	return ACT_LEAVE;
}

void leave_pidfd_getfd(struct task *t, struct call *c)
{
	(void)t;
	if (c->result == -EPERM)
		report_not_enforced(REASON_UNMODELLED,
			"pidfd_getfd: the host's kernel refuses what others allow (EPERM)");
}
