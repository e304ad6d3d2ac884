/* SPDX-License-Identifier: Apache-2.0 */
/* Identity, limits, and calls on memory that are native but for what would tell of the host. */
#include <errno.h>
#include <linux/membarrier.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/hidden/hidden.h"
#include "supervise/io/fdkind.h"
#include "supervise/main.h"
#include "supervise/report.h"
#include "supervise/engine/task.h"

/* ---- identity ---- */

enum act enter_getgroups(struct task *t, struct call *c)
{
	int32_t size = (int32_t)c->arg[0];
	if (size < 0)
		return call_done(c, -EINVAL);
	if (size && gmem_write(t, c->arg[1], &contract_get()->gid, sizeof(uint32_t)) < 0)
		return call_done(c, -EFAULT);
	return call_done(c, 1);
}

/*
 * All ids of a guest are the contract's, and it has no capability: it may set that one id and none
 * else. The kernel's own answer would tell whether the host maps the id that was asked for.
 */
static enum act set_id(struct call *c, uint32_t own, int ids)
{
	for (int i = 0; i < ids; i++) {
		uint32_t id = (uint32_t)c->arg[i];
		bool unchanged = ids > 1 && id == UINT32_MAX;
		if (id != own && !unchanged)
			return call_done(c, id == UINT32_MAX ? -EINVAL : -EPERM);
	}
	return call_done(c, 0);
}

enum act enter_setuid(struct task *t, struct call *c)
{
	(void)t;
	return set_id(c, contract_get()->uid, 1);
}

enum act enter_setreuid(struct task *t, struct call *c)
{
	(void)t;
	return set_id(c, contract_get()->uid, 2);
}

enum act enter_setresuid(struct task *t, struct call *c)
{
	(void)t;
	return set_id(c, contract_get()->uid, 3);
}

enum act enter_setgid(struct task *t, struct call *c)
{
	(void)t;
	return set_id(c, contract_get()->gid, 1);
}

enum act enter_setregid(struct task *t, struct call *c)
{
	(void)t;
	return set_id(c, contract_get()->gid, 2);
}

enum act enter_setresgid(struct task *t, struct call *c)
{
	(void)t;
	return set_id(c, contract_get()->gid, 3);
}

/* ---- limits ---- */

/*
 * The kernel would measure CPU time of the host, and signal or kill by it. Computing takes no time
 * inside, so that such a limit is never reached; it is kept here, for whoever asks.
 */
static struct cpu_limit *cpu_limit_of(struct process *p, uint32_t resource)
{
	if (resource == RLIMIT_CPU)
		return &p->cpu_limits[0];
	return resource == RLIMIT_RTTIME ? &p->cpu_limits[1] : NULL;
}

static struct rlimit cpu_limit_get(const struct cpu_limit *l)
{
	if (!l->is_set)
		return (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
	return (struct rlimit){l->soft, l->hard};
}

static int cpu_limit_set(struct cpu_limit *l, const struct rlimit *new)
{
	if (new->rlim_cur > new->rlim_max)
		return -EINVAL;
	if (new->rlim_max > cpu_limit_get(l).rlim_max)
		return -EPERM;
	*l = (struct cpu_limit){true, new->rlim_cur, new->rlim_max};
	if (new->rlim_cur != RLIM_INFINITY)
		report_assumption(REASON_TIMER_WAITS,
			"a limit on CPU time is kept and never reached: computing takes no time");
	return 0;
}

/* In the kernel's order: the new one is read, tried, and then the old one written. */
static enum act cpu_limit_call(
	struct task *t, struct call *c, struct cpu_limit *l, uint64_t new_addr, uint64_t old_addr)
{
	struct rlimit new, old = cpu_limit_get(l);
	int r = 0;

	if (new_addr && gmem_read(t, new_addr, &new, sizeof(new)) < 0)
		return call_done(c, -EFAULT);
	if (new_addr)
		r = cpu_limit_set(l, &new);
	if (r == 0 && old_addr)
		r = gmem_write(t, old_addr, &old, sizeof(old));
	return call_done(c, r);
}

enum act enter_setrlimit(struct task *t, struct call *c)
{
	struct cpu_limit *l = cpu_limit_of(t->proc, (uint32_t)c->arg[0]);

	return l && c->arg[1] ? cpu_limit_call(t, c, l, c->arg[1], 0) : ACT_NATIVE;
}

enum act enter_getrlimit(struct task *t, struct call *c)
{
	struct cpu_limit *l = cpu_limit_of(t->proc, (uint32_t)c->arg[0]);

	return l && c->arg[1] ? cpu_limit_call(t, c, l, 0, c->arg[1]) : ACT_NATIVE;
}

enum act enter_prlimit64(struct task *t, struct call *c)
{
	const struct task *of = c->arg[0] ? task_find((pid_t)c->arg[0]) : t;
	struct cpu_limit *l = of ? cpu_limit_of(of->proc, (uint32_t)c->arg[1]) : NULL;

	return l ? cpu_limit_call(t, c, l, c->arg[2], c->arg[3]) : ACT_NATIVE;
}

/* ---- address space ---- */

/* Addresses stay fixed; the rest of the persona is the guest's, and the old one is answered. */
enum act enter_personality(struct task *t, struct call *c)
{
	uint32_t persona = (uint32_t)c->arg[0];
	if (persona != UINT32_MAX && !(persona & ADDR_NO_RANDOMIZE))
		call_set_arg(t, 0, persona | ADDR_NO_RANDOMIZE);
	return ACT_NATIVE;
}

/*
 * x86-64 alone: the four segment base operations are all that a C library needs. Refused are cpuid
 * faulting, which is ours, a second vDSO, which would hold the host's clock, and what depends on
 * the CPU (shadow stacks, address masking, AMX).
 */
enum act enter_arch_prctl(struct task *t, struct call *c)
{
	enum { SET_GS = 0x1001, SET_FS, GET_FS, GET_GS };
	(void)t;
	int op = (int)c->arg[0];
	return op >= SET_GS && op <= GET_GS ? ACT_NATIVE : call_done(c, -EINVAL);
}

/*
 * Of shared mappings: RLIMIT_DATA bounds the others. Of memory without a file the kernel promises
 * at one time what the host has in all, so that is not left to it.
 */
static enum act map_shared(struct task *t, struct call *c)
{
	enum { MEM_MAJOR = 1, ZERO_MINOR = 5 };
	auto_gfd struct gfd g = GFD_NONE;

	if (!(c->arg[3] & MAP_SHARED) || c->arg[1] <= contract_get()->memory_bytes ||
		(c->arg[3] & MAP_NORESERVE))
		return ACT_NATIVE;
	if (c->arg[3] & MAP_ANONYMOUS)
		return call_done(c, -ENOMEM);
	if (gfd_open(t, (int)c->arg[4], &g) == 0 && S_ISCHR(g.st.st_mode) &&
		g.st.st_rdev == makedev(MEM_MAJOR, ZERO_MINOR))
		return call_done(c, -ENOMEM);
	return ACT_NATIVE;
}

/* Code: looked at when it is there, unless it is known to have nothing to look at. */
static enum act map_code(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;

	if (c->arg[2] & PROT_WRITE)
		hidden_made_at_run_time();
	if (c->arg[3] & MAP_ANONYMOUS)
		return ACT_NATIVE;
	if (gfd_open(t, (int)c->arg[4], &g) == 0 && !hidden_file_matters(g.fd))
		return ACT_NATIVE;
	return ACT_LEAVE;
}

/* Shared mappings and executable ones come here. */
enum act enter_mmap(struct task *t, struct call *c)
{
	enum act act = map_shared(t, c);

	if (act == ACT_NATIVE && c->arg[2] & PROT_EXEC)
		act = map_code(t, c);
	return act;
}

void leave_mmap(struct task *t, struct call *c)
{
	if ((uint64_t)c->result < (uint64_t)-4095)
		hidden_mapped(t, (uint64_t)c->result, c->arg[1]);
}

/* Only what becomes executable comes here. */
enum act enter_mprotect(struct task *t, struct call *c)
{
	(void)t;
	if (!(c->arg[2] & PROT_EXEC))
		return ACT_NATIVE;
	if (!(c->arg[2] & PROT_WRITE))
		return ACT_LEAVE;
	hidden_made_at_run_time();
	return ACT_NATIVE;
}

void leave_mprotect(struct task *t, struct call *c)
{
	if (c->result == 0)
		hidden_mapped(t, c->arg[0], c->arg[1]);
}

/* The kernel says which pages there are at all; that they are all in memory is said afterwards. */
enum act enter_mincore(struct task *t, struct call *c)
{
	(void)t;
	(void)c;
	return ACT_LEAVE;
}

/* How many bytes are mapped from addr on without a hole. */
static uint64_t mapped_from(struct task *t, uint64_t addr)
{
	char path[32], line[4352];
	uint64_t at = addr;
	unsigned long start, end;
	snprintf(path, sizeof(path), "/proc/%d/maps", t->tid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2 && start <= at && at < end)
			at = end;
	if (f)
		fclose(f);
	return at - addr;
}

void leave_mincore(struct task *t, struct call *c)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t pages = c->arg[1] / page + (c->arg[1] % page != 0);
	if (c->result != 0 && c->result != -ENOMEM)
		return;
	/* After a failure those before the hole have been written. */
	if (c->result != 0) {
		if (c->arg[1] >> 47)
			return; /* beyond all addresses: nothing was */
		uint64_t mapped = mapped_from(t, c->arg[0]) / page;
		pages = pages < mapped ? pages : mapped;
	}
	for (uint64_t done = 0; done < pages;) {
		unsigned char piece[4096];
		size_t len = pages - done < sizeof(piece) ? pages - done : sizeof(piece);
		if (gmem_read(t, c->arg[2] + done, piece, len) < 0)
			return;
		for (size_t i = 0; i < len; i++)
			if (piece[i] <= 1)
				piece[i] = 1;
		if (gmem_write(t, c->arg[2] + done, piece, len) < 0)
			return;
		done += len;
	}
}

/* Commands of the pinned kernel; those of rseq, and younger ones, are left out. */
enum act enter_membarrier(struct task *t, struct call *c)
{
	enum {
		KNOWN = MEMBARRIER_CMD_GLOBAL | MEMBARRIER_CMD_GLOBAL_EXPEDITED |
			MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED |
			MEMBARRIER_CMD_PRIVATE_EXPEDITED |
			MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED |
			MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE |
			MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE,
	};
	(void)t;
	int command = (int)c->arg[0];
	if (command == MEMBARRIER_CMD_QUERY)
		return call_done(c, c->arg[1] ? -EINVAL : KNOWN);
	/* One task runs at a time: every other one has passed a barrier when it stopped. The kernel
	 * would wait for a grace period of the host's. */
	if (command == MEMBARRIER_CMD_GLOBAL)
		return call_done(c, c->arg[1] ? -EINVAL : 0);
	return command & ~KNOWN ? call_done(c, -EINVAL) : ACT_NATIVE;
}
