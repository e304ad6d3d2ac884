/* SPDX-License-Identifier: Apache-2.0 */
/* Removes what a killed caller leaves: see janitor.h. */
#include "base/janitor.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

static NORETURN void wait_and_work(int dismissal, janitor_work *work, const void *arg)
{
	char byte;
	ssize_t n;

	/* Nothing of the caller's stays open in us, its output above all, and its terminal cannot
	 * signal us. */
	setsid();
	if (dup2(dismissal, 0) < 0 || syscall(SYS_close_range, 1u, ~0u, 0u) < 0 || chdir("/") < 0)
		_exit(1);
	do
		n = read(0, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		work(arg);
	_exit(0);
}

int janitor_start(struct janitor *ret, janitor_work *work, const void *arg, struct error *err)
{
	int ends[2];
	pid_t pid;

	*ret = JANITOR_NONE;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_sys(err, "make a pair of sockets");
	pid = fork();
	if (pid == 0)
		wait_and_work(ends[0], work, arg);
	fd_close(&ends[0]);
	if (pid < 0) {
		error_sys(err, "start a janitor");
		fd_close(&ends[1]);
		return -1;
	}
	*ret = (struct janitor){.pid = pid, .dismissal = ends[1]};
	return 0;
}

void janitor_finish(struct janitor *j)
{
	if (j->pid <= 0)
		return;
	if (send(j->dismissal, "q", 1, MSG_NOSIGNAL) != 1)
		kill(j->pid, SIGKILL);
	fd_close(&j->dismissal);
	while (waitpid(j->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	*j = JANITOR_NONE;
}
