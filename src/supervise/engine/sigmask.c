/* SPDX-License-Identifier: Apache-2.0 */
/* Pending signals of a stopped task: see sigmask.h. */
#include "supervise/engine/sigmask.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "base/fd.h"

enum { PEEK = 32 };

uint64_t sigmask_queued(const struct task *t, bool shared)
{
	struct __ptrace_peeksiginfo_args args = {
		.nr = PEEK, .flags = shared ? PTRACE_PEEKSIGINFO_SHARED : 0};
	siginfo_t info[PEEK];
	uint64_t mask = 0;

	for (;;) {
		long n = ptrace(PTRACE_PEEKSIGINFO, t->tid, &args, info);

		for (long i = 0; i < n; i++)
			mask |= 1ull << (info[i].si_signo - 1);
		if (n < PEEK)
			return mask;
		args.off += PEEK;
	}
}

uint64_t sigmask_pending(const struct task *t)
{
	return sigmask_queued(t, false) | sigmask_queued(t, true);
}

uint64_t sigmask_blocked(const struct task *t)
{
	uint64_t mask = 0;

	if (ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(mask), &mask) < 0)
		return UINT64_MAX;
	return mask;
}

static uint64_t bit(int sig)
{
	return 1ull << (sig - 1);
}

static const uint64_t ignored_by_default = 1ull << (SIGCHLD - 1) | 1ull << (SIGURG - 1) |
					   1ull << (SIGWINCH - 1) | 1ull << (SIGCONT - 1);

static uint64_t hex_after(const char *text, const char *key)
{
	const char *p = strstr(text, key);
	uint64_t value = 0;

	if (!p)
		return 0;
	for (p += strlen(key);; p++) {
		if (*p >= '0' && *p <= '9')
			value = value << 4 | (unsigned)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			value = value << 4 | (unsigned)(*p - 'a' + 10);
		else
			return value;
	}
}

/* Which signals of its process have a handler, and which are ignored by choice. */
static void dispositions(const struct task *t, uint64_t *ret_caught, uint64_t *ret_ignored)
{
	char path[40], text[4096];
	autoclose int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/status", t->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	*ret_caught = hex_after(text, "\nSigCgt:\t");
	*ret_ignored = hex_after(text, "\nSigIgn:\t");
}

bool sigmask_catches(const struct task *t, int sig)
{
	uint64_t caught, ignored;

	dispositions(t, &caught, &ignored);
	return caught & bit(sig);
}

bool sigmask_is_off(const struct task *t, int sig)
{
	uint64_t caught, ignored;

	dispositions(t, &caught, &ignored);
	return (ignored | sigmask_blocked(t)) & bit(sig);
}

/* Signals that do nothing to its process when they are delivered. */
static uint64_t without_effect(const struct task *t)
{
	uint64_t caught, ignored;

	dispositions(t, &caught, &ignored);
	return ignored | (ignored_by_default & ~caught);
}

bool sigmask_ends_wait(const struct task *t, uint64_t sigs)
{
	uint64_t blocked;

	if (!sigs)
		return false;
	/* What is blocked is kept, ignored or not, for a call that asks for it. */
	blocked = sigmask_blocked(t);
	return sigs & (blocked | ~without_effect(t));
}

bool sigmask_interrupts(const struct task *t, uint64_t mask)
{
	uint64_t due = sigmask_pending(t) & ~mask;

	return due && (due & ~without_effect(t));
}

bool sigmask_ignores(const struct task *t, int sig)
{
	return !(sigmask_blocked(t) & bit(sig)) && (without_effect(t) & bit(sig));
}
