/* SPDX-License-Identifier: Apache-2.0 */
/* Removes what a killed host leaves: see janitor.h. */
#include "launch/janitor.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fd.h"

/* Ten seconds for what dies in a group. */
enum { TRIES = 2000, PAUSE_NS = 5000000 };

static NORETURN void work(int dismissal, char *const *paths, size_t count)
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
	if (n == 1)
		_exit(0);
	for (size_t i = count; i > 0; i--)
		for (int k = 0; paths[i - 1] && k < TRIES; k++) {
			if (rmdir(paths[i - 1]) == 0 || errno != EBUSY)
				break;
			nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
		}
	_exit(0);
}

void janitor_start(struct janitor *ret, char *const *paths, size_t count)
{
	int ends[2];
	pid_t pid;

	*ret = JANITOR_NONE;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return;
	pid = fork();
	if (pid == 0)
		work(ends[0], paths, count);
	fd_close(&ends[0]);
	if (pid < 0) {
		fd_close(&ends[1]);
		return;
	}
	*ret = (struct janitor){.pid = pid, .dismissal = ends[1]};
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
