/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children that try something: see tries.h.
 *
 * How it works: a try may be killed, by a seccomp profile for one, or hang. So each is made by a
 * child that writes its finding up a pipe as plain data; what it does not write in time, the parent
 * finds for it.
 */
#include "doctor/tries.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "launch/idmap.h"
#include "launch/ns.h"
#include "wire/contract.h"

/* Of waiting for one try: a loaded machine has to be given time, a hang has to end. */
enum { PATIENCE_MS = 10000 };

void finding_set(struct doctor_finding *f, enum doctor_level level, const char *fmt, ...)
{
	va_list args;

	f->level = level;
	va_start(args, fmt);
	vsnprintf(f->detail, sizeof(f->detail), fmt, args);
	va_end(args);
}

void finding_remedy(struct doctor_finding *f, const char *text)
{
	snprintf(f->remedy, sizeof(f->remedy), "%s", text);
}

void child_read(int fd, char *ret_text, size_t size)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	size_t len = 0;

	while (len + 1 < size) {
		int r = poll(&p, 1, PATIENCE_MS);
		ssize_t n = r > 0 ? read(fd, ret_text + len, size - 1 - len) : 0;

		if ((r < 0 || n < 0) && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	ret_text[len] = '\0';
}

/* The finding that arrives on fd; false when none does. */
static bool receive(int fd, struct doctor_finding *f)
{
	struct doctor_finding got = {0};
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct error ignored;

	if (poll(&p, 1, PATIENCE_MS) <= 0 || fd_read_all(fd, &got, sizeof(got), &ignored) != 1)
		return false;
	*f = got;
	return true;
}

static NORETURN void try_and_send(void (*what)(struct doctor_finding *), int out)
{
	struct doctor_finding f = {.level = DOCTOR_MISSING};
	struct error ignored;

	what(&f);
	_exit(fd_write_all(out, &f, sizeof(f), &ignored) < 0);
}

void child_try(void (*what)(struct doctor_finding *), struct doctor_finding *f)
{
	int pair[2], status = 0;
	pid_t pid;

	fflush(stdout);
	if (pipe2(pair, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		finding_set(f, DOCTOR_MISSING, "no process can be made: %s", strerror(errno));
		return;
	}
	if (pid == 0)
		try_and_send(what, pair[1]);
	close(pair[1]);
	if (!receive(pair[0], f)) {
		kill(pid, SIGKILL);
		finding_set(f, DOCTOR_MISSING, "trying it ended without an answer");
	}
	close(pair[0]);
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		finding_set(
			f, DOCTOR_MISSING, "trying it was ended by signal %d", WTERMSIG(status));
}

int child_try_inside(
	void (*what)(struct doctor_finding *), struct doctor_finding *f, struct error *err)
{
	auto_contract struct contract c = {0};
	struct idmap ids = idmap_choose();
	int go[2], out[2], pidfd = -1;
	bool answered;
	char byte;
	pid_t pid;

	contract_init(&c);
	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		return error_sys(err, "pipe");
	pid = ns_clone_init(-1, &pidfd, err);
	if (pid < 0)
		return -1;
	if (pid == 0) {
		close(go[1]);
		/* Files are made by ids that exist inside. */
		if (read(go[0], &byte, 1) != 1 || setresgid(c.gid, c.gid, c.gid) < 0 ||
			setresuid(c.uid, c.uid, c.uid) < 0)
			_exit(1);
		try_and_send(what, out[1]);
	}
	close(out[1]);
	close(go[0]);
	if (idmap_write(&ids, pid, &c, err) < 0) {
		ns_kill_and_reap(pidfd);
		return -1;
	}
	answered = write(go[1], "g", 1) == 1 && receive(out[0], f);
	ns_kill_and_reap(pidfd);
	return answered ? 0 : error_set(err, ERR_DIED, "trying it ended without an answer");
}
