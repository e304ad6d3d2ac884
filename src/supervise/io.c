/* SPDX-License-Identifier: Apache-2.0 */
/* The run's own standard streams, which lead outside the sandbox: see io.h. */
#include "supervise/io.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "supervise/report.h"

enum { STREAMS = 3 };

static struct stat own[STREAMS];
static bool own_is_open[STREAMS];
static bool stdin_external, has_tty;

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
	return stdin_external;
}

/* /dev/tty is the controlling terminal, which here can only be the run's own or a guest's pty. */
static bool is_dev_tty(const struct stat *st)
{
	return has_tty && S_ISCHR(st->st_mode) && st->st_rdev == makedev(5, 0);
}

bool io_is_external(const struct gfd *g)
{
	if (!stdin_external)
		return false;
	if (is_dev_tty(&g->st))
		return true;
	return own_is_open[0] && same_object(&g->st, &own[0]);
}

bool io_is_own_output(const struct gfd *g)
{
	if (is_dev_tty(&g->st))
		return true;
	return (own_is_open[1] && same_object(&g->st, &own[1])) ||
	       (own_is_open[2] && same_object(&g->st, &own[2]));
}

void io_external_read(struct task *t, int64_t len)
{
	if (len < 0)
		return;
	report_external_read(t, (uint64_t)len, "standard input");
	report_not_enforced(REASON_EXTERNAL_INPUT, "read of standard input");
}

bool io_wait_external(void)
{
	struct pollfd p = {.fd = 0, .events = POLLIN};
	bool any = false;

	for (struct task *t = task_list; t && !any; t = t->next)
		any = t->state == TASK_PARKED && t->park.external;
	if (!any)
		return false;
	/* Standard input is the only thing outside that a guest can wait for. A failure other than
	 * EINTR cannot happen to a poll of one open descriptor; the retry would tell. */
	return poll(&p, 1, -1) > 0 || errno == EINTR;
}
