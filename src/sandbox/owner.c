/* SPDX-License-Identifier: Apache-2.0 */
/* An owner's rights over files that he may not read: see owner.h. */
#include "sandbox/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

/* What the child tells first; the result follows when it went well. */
struct verdict {
	int r; /* 0, -1 with the error, or 1: there is no such namespace here */
	struct error err;
};

bool owner_might(const struct error *err)
{
	return geteuid() != 0 && (err->sys == EACCES || err->sys == EPERM);
}

static bool write_map(const char *path, const char *text)
{
	autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* The same ids as before, and every right over what belongs to them. */
static bool enter(void)
{
	char uids[64], gids[64];

	snprintf(uids, sizeof(uids), "%u %u 1", (unsigned)geteuid(), (unsigned)geteuid());
	snprintf(gids, sizeof(gids), "%u %u 1", (unsigned)getegid(), (unsigned)getegid());
	return unshare(CLONE_NEWUSER) == 0 && write_map("/proc/self/uid_map", uids) &&
	       write_map("/proc/self/setgroups", "deny") && write_map("/proc/self/gid_map", gids);
}

static NORETURN void child(int to, owner_work *work, void *arg, size_t len)
{
	autofree void *result = mem_alloc(len + 1);
	struct verdict v = {.r = 1};
	char byte;

	if (enter())
		v.r = work(arg, result, &v.err);
	if (fd_write_all(to, &v, sizeof(v), NULL) < 0 ||
		(v.r == 0 && fd_write_all(to, result, len, NULL) < 0))
		_exit(1);
	/* Until the caller has taken it, or died. */
	_exit(read(to, &byte, 1) < 0);
}

static int take(int from, struct verdict *v, void *result, size_t len, struct error *err)
{
	int got = fd_read_all(from, v, sizeof(*v), err);

	if (got > 0 && v->r == 0)
		got = fd_read_all(from, result, len, err);
	if (got < 0)
		return -1;
	return got > 0 ? 0 : error_set(err, ERR_DIED, "a helper process died");
}

int owner_run(owner_work *work, owner_taken *taken, void *arg, void *result, size_t len,
	struct error *err)
{
	struct verdict v = {0};
	int ends[2], r;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_sys(err, "make a socket pair");
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		child(ends[1], work, arg, len);
	}
	close(ends[1]);
	r = pid < 0 ? error_sys(err, "fork") : take(ends[0], &v, result, len, err);
	if (r == 0 && v.r < 0)
		*err = v.err;
	if (r == 0)
		r = v.r;
	if (r == 0 && taken)
		r = taken(arg, result, err);
	close(ends[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return r;
}
