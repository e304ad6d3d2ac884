/* SPDX-License-Identifier: Apache-2.0 */
/* The run's own standard streams, which lead outside the sandbox: see io.h. */
#include "supervise/io/io.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "supervise/engine/loop.h"
#include "supervise/io/external.h"
#include "supervise/io/outside.h"
#include "supervise/host.h"
#include "supervise/report.h"
#include "supervise/engine/sched.h"
#include "supervise/engine/sigmask.h"
#include "wire/sysnr.h"

enum { STREAMS = 3, FRUITLESS_NS = 10000000 };

static struct stat own[STREAMS];
static bool own_is_open[STREAMS];
static bool stdin_external, has_tty;
static int terminal_signal; /* the last that a handler of the guest took */

static void on_sigpipe(int sig)
{
	(void)sig;
}

void io_init(bool stdin_is_external, bool tty)
{
	struct sigaction nothing = {.sa_handler = on_sigpipe};

	stdin_external = stdin_is_external || tty;
	has_tty = tty;
	for (int i = 0; i < STREAMS; i++)
		own_is_open[i] = fstat(i, &own[i]) == 0;
	/* A handler, since exec resets it: the guest must not inherit an ignored SIGPIPE. */
	sigaction(SIGPIPE, &nothing, NULL);
}

static bool same_object(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_rdev == b->st_rdev;
}

bool io_has_external(void)
{
	return stdin_external || outside_is_on();
}

/* /dev/tty is the controlling terminal: the run's own, or a guest's pty. */
static bool is_dev_tty(const struct gfd *g)
{
	unsigned device;

	return has_tty && S_ISCHR(g->st.st_mode) && g->st.st_rdev == makedev(5, 0) &&
	       ioctl(g->fd, TIOCGDEV, &device) == 0 && device == own[0].st_rdev;
}

bool io_is_external(const struct gfd *g)
{
	if (outside_looks(g))
		return true;
	if (!stdin_external || external_stdin_is_over())
		return false;
	if (is_dev_tty(g))
		return true;
	return own_is_open[0] && same_object(&g->st, &own[0]);
}

bool io_is_own_output(const struct gfd *g)
{
	if (is_dev_tty(g))
		return true;
	return (own_is_open[1] && same_object(&g->st, &own[1])) ||
	       (own_is_open[2] && same_object(&g->st, &own[2]));
}

void io_external_read(struct task *t, int64_t len)
{
	if (external_is_asked_for()) {
		if (len == 0)
			external_looked();
		return;
	}
	if (len < 0)
		return;
	report_external_read(t, (uint64_t)len, "standard input");
	report_not_enforced(REASON_EXTERNAL_INPUT, "read of standard input");
}

/* Which argument of a call is the descriptor that it writes to; -1: it is no such call. */
static int target_arg(int nr)
{
	switch (nr) {
	case NR_write:
	case NR_writev:
	case NR_vmsplice:
	case NR_pwritev2: /* at the file's own position */
	case NR_sendfile:
		return 0;
	case NR_tee:
		return 1;
	case NR_splice:
		return 2;
	default:
		return -1;
	}
}

bool io_is_write_to_host(struct task *t, const struct host_call *call)
{
	auto_gfd struct gfd g = GFD_NONE;
	int at = target_arg(call->nr);

	return at >= 0 && gfd_open(t, (int)call->arg[at], &g) == 0 && io_is_own_output(&g);
}

void io_signal_taken(struct task *t, int sig)
{
	siginfo_t info;

	if (!has_tty || (sig != SIGINT && sig != SIGQUIT && sig != SIGWINCH))
		return;
	if (ptrace(PTRACE_GETSIGINFO, t->tid, 0, &info) == 0 && info.si_code == SI_KERNEL &&
		sigmask_catches(t, sig))
		terminal_signal = sig;
}

void io_finish(int status)
{
	int sig = terminal_signal;

	if (!sig || (WIFSIGNALED(status) && WTERMSIG(status) == sig) ||
		(WIFEXITED(status) && WEXITSTATUS(status) == 128 + sig))
		return;
	report_not_enforced(REASON_SIGNAL_FROM_OUTSIDE,
		"the guest went on after signal %d of the terminal", sig);
}

/* A terminal's ^C and ^Z come as signals from the kernel, without a report. */
static void look_for_signals(void)
{
	for (struct task *t = task_list; t; t = t->next)
		if (t->state == TASK_PARKED && sigmask_interrupts(t, sigmask_blocked(t)))
			sched_signals_changed();
}

/*
 * Standard input may be ready all the while, with what nobody wants now: its end, or an edge that
 * was seen. When nobody made a call since, only time tells whether more comes.
 */
static int poll_input(void)
{
	static uint64_t stops_when_ready = UINT64_MAX;
	const struct timespec a_little = {.tv_nsec = FRUITLESS_NS};
	struct pollfd p = {.fd = 0, .events = POLLIN};
	int r;

	if (stops_when_ready == report_counts.stops)
		return nanosleep(&a_little, NULL);
	r = poll(&p, 1, -1);
	if (r > 0)
		stops_when_ready = report_counts.stops;
	return r;
}

bool io_wait_external(void)
{
	bool any = false;
	int r;

	for (struct task *t = task_list; t && !any; t = t->next)
		any = t->state == TASK_PARKED && t->park.external;
	if (!any)
		return false;
	/* Standard input is the only thing outside that a guest can wait for. Ticks and messages of
	 * the host interrupt the wait. */
	r = poll_input();
	if (has_tty)
		look_for_signals();
	if (r < 0)
		loop_host_signals();
	return true;
}
