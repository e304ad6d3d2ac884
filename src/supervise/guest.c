/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's first process.
 *
 * How it works: the child waits until it is seized, then takes on everything that exec keeps
 * (limits, address-space layout, trapping counters, no privileges, the filters) and executes the
 * program. Up to there it reports what fails as a whole `struct error` through a pipe that exec
 * closes.
 */
#include "supervise/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "supervise/arch.h"
#include "supervise/engine/filter.h"
#include "supervise/report.h"

static int error_pipe = -1;

int guest_exec_failed(struct error *ret_error)
{
	struct error ignored;

	return fd_read_all(error_pipe, ret_error, sizeof(*ret_error), &ignored) == 1;
}

/* ---- in the child ---- */

static int set_limits(const struct contract *c, struct error *err)
{
	for (int i = 0; i < CONTRACT_RLIMITS; i++) {
		struct rlimit now, want = {c->rlimits[i].soft, c->rlimits[i].hard};

		if (getrlimit(i, &now) < 0)
			return error_sys(err, "getrlimit %d", i);
		/* A host limit below ours cannot be raised without privilege: take what there is.
		 */
		if (want.rlim_max > now.rlim_max)
			want.rlim_max = now.rlim_max;
		if (want.rlim_cur > want.rlim_max)
			want.rlim_cur = want.rlim_max;
		if (setrlimit(i, &want) < 0)
			return error_sys(err, "setrlimit %d", i);
	}
	return 0;
}

static int drop_privileges(struct error *err)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_sys(err, "set no_new_privs");
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return error_sys(err, "clear ambient capabilities");
	if (syscall(SYS_capset, &header, none) < 0)
		return error_sys(err, "drop capabilities");
	return 0;
}

static int install_filter(const struct sock_filter *filter, size_t len, struct error *err)
{
	struct sock_fprog prog = {(unsigned short)len, (struct sock_filter *)(uintptr_t)filter};

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0)
		return error_sys(err, "install a seccomp filter of %zu instructions", len);
	return 0;
}

static int install_filters(const struct contract *c, const struct conditions *k, struct error *err)
{
	static struct sock_filter program[CONTRACT_FILTER_MAX];
	size_t len;

	for (size_t i = 0; i < k->filter_len; i++)
		program[i] = (struct sock_filter){
			k->filter[i].code, k->filter[i].jt, k->filter[i].jf, k->filter[i].k};
	if (k->filter_len && install_filter(program, k->filter_len, err) < 0)
		return -1;
	if (!c->deterministic)
		return 0;
	len = filter_build(c->stdin_kind == CONTRACT_STDIN_STREAM || c->tty, program, FILTER_ROOM);
	if (!len)
		return error_set(err, ERR_LIMIT, "the trace filter does not fit");
	return install_filter(program, len, err);
}

static int fix_world(const struct contract *c, struct error *err)
{
	setsid();
	if (c->tty && ioctl(0, TIOCSCTTY, 0) < 0)
		return error_sys(err, "take the terminal");
	umask(c->umask_bits);
	if (chdir(c->workdir) < 0)
		return error_sys(err, "working directory '%s'", c->workdir);
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return error_sys(err, "set dumpable");
	return set_limits(c, err);
}

static int fix_addresses(struct error *err)
{
	if (arch_trap_setup() < 0)
		return error_sys(err, "make the time-stamp counter trap");
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) < 0)
		return error_sys(err, "turn huge pages off");
	return 0;
}

/* The file that exec gets: the name itself with a slash in it, else the first in PATH. */
static int find_program(
	const char *name, char *const *env, char *out, size_t size, struct error *err)
{
	const char *path = "/usr/local/bin:/usr/bin:/bin";
	bool denied = false;

	if (strchr(name, '/')) {
		snprintf(out, size, "%s", name);
		return 0;
	}
	for (; *env; env++)
		if (strncmp(*env, "PATH=", 5) == 0)
			path = *env + 5;
	while (*path) {
		size_t len = strcspn(path, ":");
		struct stat st;

		if (len + strlen(name) + 2 <= size) {
			snprintf(out, size, "%.*s%s%s", (int)len, path, len ? "/" : "", name);
			if (stat(out, &st) == 0 && S_ISREG(st.st_mode)) {
				if (access(out, X_OK) == 0)
					return 0;
				denied = true;
			}
		}
		path += len + (path[len] == ':');
	}
	if (denied)
		return error_set(err, ERR_NOEXEC, "'%s' is not executable", name);
	return error_set(err, ERR_NOTFOUND, "'%s' was not found in the sandbox", name);
}

static int become(const struct contract *c, const struct conditions *k, struct error *err)
{
	char program[CONTRACT_PATH_MAX + 1];
	bool missing;

	if (fix_world(c, err) < 0)
		return -1;
	if (c->deterministic && fix_addresses(err) < 0)
		return -1;
	if (find_program(c->argv[0], c->env, program, sizeof(program), err) < 0)
		return -1;
	if (drop_privileges(err) < 0 || install_filters(c, k, err) < 0)
		return -1;
	execve(program, c->argv, c->env);
	missing = errno == ENOENT || errno == ENOTDIR;
	error_sys(err, "cannot execute '%s'", c->argv[0]);
	err->code = missing ? ERR_NOTFOUND : ERR_NOEXEC;
	return -1;
}

static NORETURN void child(const struct contract *c, const struct conditions *k, int go, int report)
{
	struct error err = {0}, ignored;
	sigset_t none;
	char byte;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (fd_read_all(go, &byte, 1, &err) != 1)
		_exit(125);
	/* All but the report go at exec; 0, 1 and 2 stay. */
	if (syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		error_sys(&err, "close_range");
	else
		become(c, k, &err);
	if (fd_write_all(report, &err, sizeof(err), &ignored) < 0)
		_exit(125);
	_exit(error_status(&err));
}

/* ---- in the supervisor ---- */

/* The last pid given out in our namespace. */
static pid_t last_pid(void)
{
	char text[32] = "";
	autoclose int fd = open("/proc/sys/kernel/ns_last_pid", O_RDONLY | O_CLOEXEC);
	int pid = 1;

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0 || sscanf(text, "%d", &pid) != 1)
		return 1;
	return pid;
}

/*
 * A child with exactly this pid, so that its own children get those after it. launch sets the pid
 * namespace's counter where it can; elsewhere the pids before are used up (clone3's set_tid would
 * not move the counter).
 */
static pid_t fork_as(uint32_t pid)
{
	pid_t last = last_pid();

	while (last < (pid_t)pid - 1) {
		last = vfork();
		if (last == 0)
			_exit(0);
		if (last < 0)
			return -1;
		waitpid(last, NULL, __WALL);
	}
	return fork();
}

/* What the host's own limits keep from being what the contract says. */
static void tell_limits(const struct contract *c)
{
	static const char *const names[CONTRACT_RLIMITS] = {"CPU time", "file size", "data",
		"stack", "core", "resident set", "processes", "open files", "locked memory",
		"address space", "locks", "pending signals", "message queues", "nice",
		"real-time priority", "real-time CPU time"};

	for (int i = 0; i < CONTRACT_RLIMITS; i++) {
		struct rlimit now;

		if (getrlimit(i, &now) == 0 && now.rlim_max < c->rlimits[i].soft)
			report_assumption(REASON_LIMIT_DEGRADED,
				"%s: the host's own limit is lower than the contract's", names[i]);
	}
}

/* Ours too, since the guest inherits it; what has no effect on a program that runs already. */
static void fix_layout(void)
{
	if (personality(ADDR_NO_RANDOMIZE) < 0 || !(personality(0xffffffff) & ADDR_NO_RANDOMIZE))
		report_not_enforced(
			REASON_ASLR_ON, "personality(2) is refused, so addresses are random");
}

static int seize(pid_t pid, struct error *err)
{
	unsigned long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK |
				PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
				PTRACE_O_EXITKILL;

	if (ptrace(PTRACE_SEIZE, pid, 0, options) < 0)
		return error_sys(
			err, "ptrace is refused: a seccomp profile or Yama may be in the way");
	return 0;
}

int guest_start(
	const struct contract *c, const struct conditions *k, pid_t *ret_pid, struct error *err)
{
	int go[2], report[2];
	pid_t pid;

	tell_limits(c);
	if (c->deterministic)
		fix_layout();
	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(report, O_CLOEXEC) < 0)
		return error_sys(err, "pipe");
	pid = fork_as(c->first_pid);
	if (pid < 0)
		return error_sys(err, "fork the first process");
	if (pid == 0) {
		close(go[1]);
		child(c, k, go[0], report[1]);
	}
	close(go[0]);
	close(report[1]);
	error_pipe = report[0];
	if ((uint32_t)pid != c->first_pid)
		return error_set(err, ERR_UNSUPPORTED, "the first process got pid %d instead of %u",
			pid, c->first_pid);
	if (c->deterministic && seize(pid, err) < 0)
		return -1;
	/* What we know is nothing that a guest should read. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return error_sys(err, "make the supervisor unreadable");
	if (fd_write_all(go[1], "g", 1, err) < 0)
		return -1;
	close(go[1]);
	*ret_pid = pid;
	return 0;
}
