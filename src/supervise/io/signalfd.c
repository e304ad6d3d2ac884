/* SPDX-License-Identifier: Apache-2.0 */
/* What a guest reads from a signalfd: see signalfd.h. */
#include "supervise/io/signalfd.h"

#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>

#include "supervise/engine/signals.h"

/* The kernel's other form of a siginfo, as far as signals_taken looks at it. */
static siginfo_t to_siginfo(const struct signalfd_siginfo *s)
{
	siginfo_t info = {.si_signo = (int)s->ssi_signo, .si_code = s->ssi_code};

	if (s->ssi_code == SI_TIMER) {
		info.si_timerid = (int)s->ssi_tid;
		info.si_overrun = (int)s->ssi_overrun;
		return info;
	}
	info.si_pid = (pid_t)s->ssi_pid;
	info.si_uid = s->ssi_uid;
	if (s->ssi_signo == SIGCHLD) {
		info.si_utime = (clock_t)s->ssi_utime;
		info.si_stime = (clock_t)s->ssi_stime;
	}
	return info;
}

static void from_siginfo(struct signalfd_siginfo *s, const siginfo_t *info)
{
	s->ssi_code = info->si_code;
	if (info->si_code == SI_TIMER) {
		s->ssi_overrun = (uint32_t)info->si_overrun;
		return;
	}
	s->ssi_pid = (uint32_t)info->si_pid;
	s->ssi_uid = info->si_uid;
	if (s->ssi_signo == SIGCHLD) {
		s->ssi_utime = (uint64_t)info->si_utime;
		s->ssi_stime = (uint64_t)info->si_stime;
	}
}

void signalfd_taken(struct task *t, const struct giov *to, uint64_t len)
{
	struct signalfd_siginfo s;

	for (uint64_t at = 0; at + sizeof(s) <= len; at += sizeof(s)) {
		siginfo_t info;

		if (giov_get(to, t, at, (char *)&s, sizeof(s)) != (ssize_t)sizeof(s))
			return;
		info = to_siginfo(&s);
		if (!signals_taken(t, &info))
			continue;
		from_siginfo(&s, &info);
		if (giov_put(to, t, at, (const char *)&s, sizeof(s)) < 0)
			return;
	}
}
