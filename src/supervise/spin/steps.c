/* SPDX-License-Identifier: Apache-2.0 */
/* A task taken through its instructions one by one: see steps.h. */
#include "supervise/spin/steps.h"

#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "supervise/engine/gmem.h"
#include "supervise/engine/loop.h"

enum { EVENT_SHIFT = 16 };

bool stepper_read(struct stepper *v)
{
	if (arch_regs_read(v->t->tid, &v->regs) < 0)
		return false;
	arch_regs_clean(&v->regs);
	return true;
}

bool steps_are_same(const struct regs *a, const struct regs *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static bool is_before(const struct regs *a, const struct regs *b)
{
	if (arch_ip(a) != arch_ip(b))
		return arch_ip(a) < arch_ip(b);
	return memcmp(a, b, sizeof(*a)) < 0;
}

static bool is_step(pid_t tid)
{
	siginfo_t info;

	return ptrace(PTRACE_GETSIGINFO, tid, 0, &info) == 0 && info.si_code == TRAP_TRACE;
}

/* Resumes t and waits for the one stop that this asks for; false: it was another, and is handled.
 */
static bool go(struct stepper *v, int request, int wanted)
{
	pid_t tid = v->t->tid;
	int status;

	if (ptrace(request, tid, 0, 0) == 0 && loop_wait_tid(tid, &status) == 0) {
		if (WIFSTOPPED(status) && WSTOPSIG(status) == wanted &&
			(unsigned)status >> EVENT_SHIFT == 0 &&
			(request != PTRACE_SINGLESTEP || is_step(tid)))
			return true;
		loop_report(tid, status);
	}
	v->left = true;
	return false;
}

/* A call that the filter lets pass runs from its entry stop to its exit stop; any other is handled
 * as ever. */
static bool step_call(struct stepper *v)
{
	const struct syscall_row *row;
	struct regs regs;
	struct call call;

	if (!go(v, PTRACE_SYSCALL, SIGTRAP | 0x80) || arch_regs_read(v->t->tid, &regs) < 0)
		return false;
	arch_call_get(&regs, &call);
	row = call_row(call.nr);
	if (row && row->verdict == VERDICT_ALLOW) {
		v->has_calls = true;
		return go(v, PTRACE_SYSCALL, SIGTRAP | 0x80);
	}
	return false; /* resumed by the loop, it meets the filter */
}

/* One instruction. False: the examination is over. */
bool stepper_step(struct stepper *v)
{
	unsigned char code[ARCH_INSN_MAX];
	ssize_t n = gmem_read_some(v->t, arch_ip(&v->regs), code, sizeof(code));

	if (v->budget == 0 || n < 0)
		return false;
	v->budget--;
	switch (arch_insn_step(code, (size_t)n)) {
	case ARCH_STEP_CALL:
		return step_call(v) && stepper_read(v);
	case ARCH_STEP_NEVER:
		return false;
	case ARCH_STEP_PLAIN:
	default:
		break;
	}
	return go(v, PTRACE_SINGLESTEP, SIGTRAP) && stepper_read(v);
}

static void note_accesses(struct stepper *v, struct words *words)
{
	struct arch_access accesses[ARCH_ACCESSES];
	unsigned char code[ARCH_INSN_MAX];
	ssize_t n = gmem_read_some(v->t, arch_ip(&v->regs), code, sizeof(code));
	int count = n < 0 ? -1 : arch_insn_accesses(&v->regs, code, (size_t)n, accesses);

	if (count < 0)
		v->knows_all = false;
	for (int i = 0; i < count; i++)
		if (!words_add(words, v->t, &accesses[i]))
			v->knows_all = false;
}

bool stepper_walk(struct stepper *v, unsigned period, struct words *words, struct regs *ret_least,
	unsigned *ret_times)
{
	unsigned times = 0;

	for (unsigned i = 0; i < period; i++) {
		if (times == 0 || is_before(&v->regs, ret_least)) {
			*ret_least = v->regs;
			times = 1;
		} else if (steps_are_same(&v->regs, ret_least))
			times++;
		note_accesses(v, words);
		if (!stepper_step(v))
			return false;
	}
	*ret_times = times;
	return true;
}

bool stepper_same_vectors(struct stepper *v, const unsigned char *before, ssize_t len)
{
	static unsigned char now[ARCH_VECTORS_MAX];

	return arch_vectors_read(v->t->tid, now) == len && len > 0 &&
	       memcmp(before, now, (size_t)len) == 0;
}
