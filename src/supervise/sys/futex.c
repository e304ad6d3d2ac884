/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Futexes, emulated whole: the kernel never sees a wait or a wake.
 *
 * How it works: a waiter is a task parked with PARK_FUTEX and its key; the queue of a word is those
 * tasks in the order in which they parked. A key names the memory, not the address: private memory
 * is (address space, address), shared mappings are (device, inode, offset), so that shared and
 * private operations on private memory meet. PI operations are refused like on a kernel without
 * them.
 */
#include "supervise/engine/futex.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "supervise/engine/clock.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/engine/sched.h"

#define NS_PER_S 1000000000ull
#define KEY_PRIVATE (1ull << 63)

enum { BITS_ANY = -1 };

static void private_key(const struct mm *mm, uint64_t addr, uint64_t key[3])
{
	key[0] = KEY_PRIVATE | mm->ordinal;
	key[1] = addr;
	key[2] = 0;
}

/* A line of /proc/PID/maps that holds addr and is a shared mapping gives its object as the key. */
static bool shared_line(const char *line, uint64_t addr, uint64_t key[3], bool *ret_holds)
{
	unsigned long start, end, offset, inode;
	unsigned major_nr, minor_nr;
	char perms[5];

	*ret_holds = false;
	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu", &start, &end, perms, &offset, &major_nr,
		    &minor_nr, &inode) != 7 ||
		addr < start || addr >= end)
		return false;
	*ret_holds = true;
	if (perms[3] != 's')
		return false;
	key[0] = makedev(major_nr, minor_nr);
	key[1] = inode;
	key[2] = addr - start + offset;
	return true;
}

static void shared_key(struct task *t, uint64_t addr, uint64_t key[3])
{
	char path[32], line[4352];
	bool holds = false;
	FILE *f;

	private_key(t->mm, addr, key);
	snprintf(path, sizeof(path), "/proc/%d/maps", t->tid);
	f = fopen(path, "re");
	if (!f)
		return;
	while (!holds && fgets(line, sizeof(line), f))
		if (shared_line(line, addr, key, &holds))
			break;
	fclose(f);
}

static void get_key(struct task *t, uint64_t addr, int op, uint64_t key[3])
{
	if (op & FUTEX_PRIVATE_FLAG)
		private_key(t->mm, addr, key);
	else
		shared_key(t, addr, key);
}

static bool is_waiter(const struct task *t, const uint64_t key[3], uint32_t bits)
{
	return t->state == TASK_PARKED && t->park.kind == PARK_FUTEX && !t->park.woken &&
	       memcmp(t->park.key, key, sizeof(t->park.key)) == 0 && (t->park.bits & bits);
}

/* The waiter that parked first. */
static struct task *first_waiter(const uint64_t key[3], uint32_t bits)
{
	struct task *found = NULL;

	for (struct task *t = task_list; t; t = t->next)
		if (is_waiter(t, key, bits) && (!found || t->park.seq < found->park.seq))
			found = t;
	return found;
}

static uint32_t wake(const uint64_t key[3], uint32_t count, uint32_t bits)
{
	uint32_t woken = 0;
	struct task *t;

	while (woken < count && (t = first_waiter(key, bits)) != NULL) {
		t->park.woken = true;
		woken++;
		sched_wake(t);
	}
	return woken;
}

static uint32_t requeue(const uint64_t from[3], const uint64_t to[3], uint32_t count)
{
	uint32_t moved = 0;
	struct task *t;

	if (memcmp(from, to, 3 * sizeof(*from)) == 0)
		return 0;
	while (moved < count && (t = first_waiter(from, (uint32_t)BITS_ANY)) != NULL) {
		memcpy(t->park.key, to, sizeof(t->park.key));
		t->park.seq = sched_park_seq(); /* behind those that wait there already */
		moved++;
	}
	return moved;
}

void futex_wake_address(const struct mm *mm, uint64_t addr, uint32_t count)
{
	uint64_t key[3];

	private_key(mm, addr, key);
	wake(key, count, (uint32_t)BITS_ANY);
}

void futex_owner_died(void)
{
	for (struct task *t = task_list, *next; t; t = next) {
		uint32_t word;

		next = t->next;
		if (t->state != TASK_PARKED || t->park.kind != PARK_FUTEX || t->park.woken)
			continue;
		if (gmem_read(t, t->park.addr, &word, sizeof(word)) == 0 &&
			(word & FUTEX_OWNER_DIED)) {
			t->park.woken = true;
			sched_wake(t);
		}
	}
}

/* The absolute deadline on the monotonic clock: 0 or a negative errno; UINT64_MAX for none. */
static int read_deadline(struct task *t, const struct call *c, int cmd, uint64_t *ret_ns)
{
	struct timespec ts;
	uint64_t ns;

	*ret_ns = UINT64_MAX;
	if (!c->arg[3])
		return 0;
	if (gmem_read(t, c->arg[3], &ts, sizeof(ts)) < 0)
		return -EFAULT;
	if (ts.tv_sec < 0 || ts.tv_nsec < 0 || ts.tv_nsec >= (long)NS_PER_S)
		return -EINVAL;
	if ((uint64_t)ts.tv_sec > UINT64_MAX / 2 / NS_PER_S)
		return 0;
	ns = (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
	if (cmd == FUTEX_WAIT)
		*ret_ns = clock_monotonic() + ns;
	else if (c->arg[1] & FUTEX_CLOCK_REALTIME)
		*ret_ns = clock_from_realtime(ns);
	else
		*ret_ns = ns;
	return 0;
}

static enum act wait_on(struct task *t, struct call *c, int cmd, uint32_t bits)
{
	uint64_t deadline;
	uint32_t word;
	int r;

	if (t->park.woken)
		return call_done(c, 0);
	if (t->park.timed_out)
		return call_done(c, -ETIMEDOUT);
	if (t->park.kind == PARK_FUTEX && t->state == TASK_PARKED)
		return ACT_PARK;
	if (!bits)
		return call_done(c, -EINVAL);
	r = read_deadline(t, c, cmd, &deadline);
	if (r < 0)
		return call_done(c, r);
	if (c->arg[0] % sizeof(word))
		return call_done(c, -EINVAL);
	if (gmem_read(t, c->arg[0], &word, sizeof(word)) < 0)
		return call_done(c, -EFAULT);
	if (word != (uint32_t)c->arg[2])
		return call_done(c, -EAGAIN);
	get_key(t, c->arg[0], (int)c->arg[1], t->park.key);
	t->park.bits = bits;
	t->park.addr = c->arg[0];
	if (deadline != UINT64_MAX)
		park_no_restart(
			t); /* as the kernel, whose restart block acts like it for handlers */
	return park_on_until(t, PARK_FUTEX, deadline);
}

static int64_t wake_op(struct task *t, const struct call *c)
{
	uint32_t how = (uint32_t)c->arg[5], op = how >> 28 & 7, cmp = how >> 24 & 15;
	int32_t oparg = (int32_t)(how << 8) >> 20, cmparg = (int32_t)(how << 20) >> 20;
	uint64_t key[3], key2[3];
	int32_t old, value;
	bool is_true;
	int64_t woken;

	if (how >> 28 & FUTEX_OP_OPARG_SHIFT)
		oparg = (int32_t)(1u << (oparg & 31));
	if (gmem_read(t, c->arg[4], &old, sizeof(old)) < 0)
		return -EFAULT;
	switch (op) {
	case FUTEX_OP_SET:
		value = oparg;
		break;
	case FUTEX_OP_ADD:
		value = (int32_t)((uint32_t)old + (uint32_t)oparg);
		break;
	case FUTEX_OP_OR:
		value = old | oparg;
		break;
	case FUTEX_OP_ANDN:
		value = old & ~oparg;
		break;
	case FUTEX_OP_XOR:
		value = old ^ oparg;
		break;
	default:
		return -ENOSYS;
	}
	if (gmem_write(t, c->arg[4], &value, sizeof(value)) < 0)
		return -EFAULT;
	switch (cmp) {
	case FUTEX_OP_CMP_EQ:
		is_true = old == cmparg;
		break;
	case FUTEX_OP_CMP_NE:
		is_true = old != cmparg;
		break;
	case FUTEX_OP_CMP_LT:
		is_true = old < cmparg;
		break;
	case FUTEX_OP_CMP_LE:
		is_true = old <= cmparg;
		break;
	case FUTEX_OP_CMP_GT:
		is_true = old > cmparg;
		break;
	case FUTEX_OP_CMP_GE:
		is_true = old >= cmparg;
		break;
	default:
		return -ENOSYS;
	}
	get_key(t, c->arg[0], (int)c->arg[1], key);
	get_key(t, c->arg[4], (int)c->arg[1], key2);
	woken = wake(key, (uint32_t)c->arg[2], (uint32_t)BITS_ANY);
	if (is_true)
		woken += wake(key2, (uint32_t)c->arg[3], (uint32_t)BITS_ANY);
	return woken;
}

static int64_t do_requeue(struct task *t, const struct call *c, bool compare)
{
	uint64_t key[3], key2[3];
	uint32_t word, woken;

	if ((int32_t)c->arg[2] < 0 || (int32_t)c->arg[3] < 0)
		return -EINVAL;
	if (compare) {
		if (gmem_read(t, c->arg[0], &word, sizeof(word)) < 0)
			return -EFAULT;
		if (word != (uint32_t)c->arg[5])
			return -EAGAIN;
	}
	get_key(t, c->arg[0], (int)c->arg[1], key);
	get_key(t, c->arg[4], (int)c->arg[1], key2);
	woken = wake(key, (uint32_t)c->arg[2], (uint32_t)BITS_ANY);
	return woken + requeue(key, key2, (uint32_t)c->arg[3]);
}

enum act enter_futex(struct task *t, struct call *c)
{
	int op = (int)c->arg[1], cmd = op & FUTEX_CMD_MASK;
	uint64_t key[3];

	switch (cmd) {
	case FUTEX_WAIT:
		return wait_on(t, c, cmd, (uint32_t)BITS_ANY);
	case FUTEX_WAIT_BITSET:
		return wait_on(t, c, cmd, (uint32_t)c->arg[5]);
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		if (cmd == FUTEX_WAKE_BITSET && !(uint32_t)c->arg[5])
			return call_done(c, -EINVAL);
		get_key(t, c->arg[0], op, key);
		return call_done(
			c, wake(key, (uint32_t)c->arg[2],
				   cmd == FUTEX_WAKE ? (uint32_t)BITS_ANY : (uint32_t)c->arg[5]));
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
		return call_done(c, do_requeue(t, c, cmd == FUTEX_CMP_REQUEUE));
	case FUTEX_WAKE_OP:
		return call_done(c, wake_op(t, c));
	default:
		return call_done(c, -ENOSYS);
	}
}
