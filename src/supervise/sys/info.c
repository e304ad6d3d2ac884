/* SPDX-License-Identifier: Apache-2.0 */
/* What a guest asks about the machine: fixed answers (docs/format/contract). */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "supervise/engine/clock.h"
#include "supervise/engine/entropy.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/main.h"
#include "supervise/engine/sched.h"

#define NS_PER_S 1000000000ull

enum {
	DRAW_MAX = 32 * 1024 * 1024 - 1, /* the kernel's own bound: getrandom(2) */
	PIECE = 4096,
};

enum act enter_uname(struct task *t, struct call *c)
{
	struct utsname u = {.sysname = "Linux",
		.release = "6.1.0-sandglass",
		.version = "#1 SMP PREEMPT_DYNAMIC Sandglass",
		.machine = ARCH_MACHINE,
		.domainname = "(none)"};

	snprintf(u.nodename, sizeof(u.nodename), "%s", contract_get()->hostname);
	return call_done(c, gmem_write(t, c->arg[0], &u, sizeof(u)));
}

enum act enter_sysinfo(struct task *t, struct call *c)
{
	struct sysinfo si = {.uptime = (long)(clock_monotonic() / NS_PER_S),
		.totalram = contract_get()->memory_bytes,
		.freeram = contract_get()->memory_bytes / 2,
		.mem_unit = 1};

	for (const struct task *q = task_list; q; q = q->next)
		si.procs++;
	return call_done(c, gmem_write(t, c->arg[0], &si, sizeof(si)));
}

enum act enter_getcpu(struct task *t, struct call *c)
{
	uint32_t zero = 0;

	for (int i = 0; i < 2; i++)
		if (c->arg[i] && gmem_write(t, c->arg[i], &zero, sizeof(zero)) < 0)
			return call_done(c, -EFAULT);
	return call_done(c, 0);
}

enum act enter_sched_getaffinity(struct task *t, struct call *c)
{
	unsigned long mask = 1;

	if (c->arg[1] < sizeof(mask) || c->arg[1] % sizeof(mask))
		return call_done(c, -EINVAL);
	if (c->arg[0] && !task_find((pid_t)c->arg[0]))
		return call_done(c, -ESRCH);
	if (gmem_write(t, c->arg[2], &mask, sizeof(mask)) < 0)
		return call_done(c, -EFAULT);
	return call_done(c, sizeof(mask));
}

enum act enter_sched_yield(struct task *t, struct call *c)
{
	sched_idle(t, SCHED_IDLE_CALL);
	return call_done(c, 0);
}

enum act enter_getrandom(struct task *t, struct call *c)
{
	size_t len = c->arg[1] < DRAW_MAX ? c->arg[1] : DRAW_MAX;
	unsigned char piece[PIECE];
	uint64_t draw;

	if (c->arg[2] & ~7ull)
		return call_done(c, -EINVAL);
	if (!len)
		return call_done(c, 0);
	draw = entropy_begin(t, len);
	for (size_t done = 0; done < len; done += PIECE) {
		size_t part = len - done < PIECE ? len - done : PIECE;

		entropy_piece(t, draw, done, piece, part);
		if (gmem_write(t, c->arg[0] + done, piece, part) < 0)
			return call_done(c, -EFAULT);
	}
	return call_done(c, (int64_t)len);
}
