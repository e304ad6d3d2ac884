/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for the container: see fake_launch.h. */
#include "fake_launch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "launch/launch.h"

void (*fake_supervisor)(void);

struct launch {
	pid_t pid;
	int pidfd, status;
	bool is_reaped;
};

static NORETURN void play(const struct launch_spec *spec)
{
	sigset_t none;
	int control = fcntl(spec->control, F_DUPFD, 10);

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < 3; i++)
		if (dup2(spec->stdio[i], i) < 0)
			_exit(90);
	if (dup2(control, 3) < 0)
		_exit(91);
	close_range(4, ~0u, 0);
	fake_supervisor();
	_exit(0);
}

int launch_start(const struct launch_spec *spec, struct launch **ret, struct error *err)
{
	struct launch *l = mem_alloc(sizeof(*l));

	l->pid = fork();
	if (l->pid == 0)
		play(spec);
	l->pidfd = l->pid < 0 ? -1 : pidfd_open(l->pid, 0);
	*ret = l;
	return l->pidfd < 0 ? error_sys(err, "fork") : 0;
}

int launch_terminal(struct launch *l)
{
	(void)l;
	return -1;
}

int launch_lost_fd(const struct launch *l)
{
	(void)l;
	return -1;
}

int launch_copy_fd(const struct launch *l, bool *ret_is_overlay)
{
	(void)l;
	*ret_is_overlay = true;
	return -1;
}

const struct launch_degraded *launch_degraded(const struct launch *l, size_t *ret_count)
{
	static const struct launch_degraded one = {
		REASON_LIMIT_DEGRADED, "memory: a fake has no limits"};

	(void)l;
	*ret_count = 1;
	return &one;
}

bool launch_needs_memory_watch(const struct launch *l)
{
	(void)l;
	return true;
}

int launch_give(int fd, struct error *err)
{
	(void)fd;
	(void)err;
	return 0;
}

int launch_nudge(struct launch *l, struct error *err)
{
	return kill(l->pid, SIGUSR1) < 0 ? error_sys(err, "kill") : 0;
}

void launch_kill(struct launch *l)
{
	if (l && !l->is_reaped)
		kill(l->pid, SIGKILL);
}

int launch_wait(struct launch *l, int *ret_status, struct error *err)
{
	if (!l->is_reaped && waitpid(l->pid, &l->status, 0) < 0)
		return error_sys(err, "waitpid");
	l->is_reaped = true;
	*ret_status = l->status;
	return 0;
}

bool launch_was_oom(const struct launch *l)
{
	(void)l;
	return false;
}

void launch_free(struct launch *l)
{
	int status;

	if (!l)
		return;
	launch_kill(l);
	if (launch_wait(l, &status, NULL) < 0)
		abort();
	fd_close(&l->pidfd);
	free(l);
}

void launch_cleanup(struct launch **l)
{
	launch_free(*l);
	*l = NULL;
}

int launch_deny_filter(struct contract_filter_insn **ret, size_t *ret_len, struct error *err)
{
	(void)err;
	*ret = NULL;
	*ret_len = 0;
	return 0;
}
