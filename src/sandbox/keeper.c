/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One program as an ordinary process tree: see keeper.h.
 *
 * How it works. A forked keeper makes itself the reaper of all its descendants, forks the program
 * and waits, for its end or for the end of the life line, a pipe that only the caller holds open.
 * Then it kills every descendant it finds, stopping them first so that none forks meanwhile, until
 * it has no child left, and writes a verdict. The caller reaps what a keeper leaves behind, which
 * the program may have killed or stopped: then, as after a time-out, the keeper is killed, its
 * descendants become the caller's, and the caller ends them.
 */
#include "sandbox/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "sandbox/reaper.h"
#include "sandbox/streams.h"

enum { FIRST_FREE = 3, UMASK = 022 };

/* What the keeper tells. */
struct verdict {
	int errnum;   /* of an exec that failed; 0: it ran */
	int status;   /* as waitpid gives it */
	bool is_left; /* something of it that could not be killed */
};

struct keeper {
	const char *program; /* borrowed */
	struct sandbox_result *result;
	pid_t pid;   /* of the keeper */
	int life;    /* our end of the life line; owned */
	int verdict; /* owned */
	struct reaper reaper;
};

/* As execvp looks for it, without its fall back to a shell. The errno of the failure. */
static int exec_program(char *const *argv, char *const *env)
{
	const char *path = NULL;
	int errnum = ENOENT;

	for (size_t i = 0; env[i]; i++)
		if (strncmp(env[i], "PATH=", 5) == 0)
			path = env[i] + 5;
	if (strchr(argv[0], '/')) {
		execve(argv[0], argv, env);
		return errno;
	}
	while (path && *path) {
		char full[4096];
		size_t len = strcspn(path, ":");

		if ((size_t)snprintf(full, sizeof(full), "%.*s/%s", (int)len, path, argv[0]) <
			sizeof(full)) {
			execve(full, argv, env);
			if (errno != ENOENT && errno != ENOTDIR)
				errnum = errno;
		}
		path += len + (path[len] == ':');
	}
	return errnum;
}

static void run_program(
	int cwd, int report, const int guest[3], char *const *argv, char *const *env)
{
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t none;
	int errnum;

	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < 3; i++)
		dup2(guest[i], i);
	close_range(FIRST_FREE, ~0U, CLOSE_RANGE_CLOEXEC);
	umask(UMASK);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &plain, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	errnum = fchdir(cwd) < 0 ? errno : exec_program(argv, env);
	if (write(report, &errnum, sizeof(errnum)) < 0)
		_exit(1);
	_exit(0);
}

/* Until the program has ended (true, with its status) or the caller has let go. */
static bool wait_for(pid_t program, int life, int *ret_status)
{
	sigset_t set;
	int sfd;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	for (;;) {
		struct pollfd fds[2] = {
			{.fd = sfd, .events = POLLIN}, {.fd = life, .events = POLLIN}};
		struct signalfd_siginfo info;
		pid_t pid;
		int status;

		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			if (pid == program) {
				*ret_status = status;
				return true;
			}
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return false;
		if (fds[1].revents)
			return false;
		while (read(sfd, &info, sizeof(info)) > 0)
			continue;
	}
}

/* The keeper's whole life. */
static void keep(
	int life, int verdict, int cwd, const int guest[3], char *const *argv, char *const *env)
{
	struct verdict v = {0};
	struct reaper reaper;
	int report[2];
	pid_t program;

	setsid();
	reaper_begin(&reaper);
	if (pipe2(report, O_CLOEXEC) < 0)
		_exit(1);
	program = fork();
	if (program == 0)
		run_program(cwd, report[1], guest, argv, env);
	close(report[1]);
	for (int i = 0; i < 3; i++)
		close(guest[i]);
	if (program < 0)
		v.errnum = EAGAIN;
	else if (read(report[0], &v.errnum, sizeof(v.errnum)) < 0)
		v.errnum = EIO;
	if (program > 0)
		wait_for(program, life, &v.status);
	v.is_left = !reaper_kill(&reaper);
	_exit(write(verdict, &v, sizeof(v)) == sizeof(v) ? 0 : 1);
}

/* The verdict then ends without one. */
static void kill_keeper(void *arg)
{
	struct keeper *k = arg;

	fd_close(&k->life);
	if (k->pid > 0)
		kill(k->pid, SIGKILL);
}

/* In the words of the other backends. */
static void describe_failure(struct keeper *k, int errnum)
{
	struct sandbox_result *r = k->result;
	autofree char *name = str_printable(k->program, strlen(k->program), 160);

	if (r->end == SANDBOX_NOT_FOUND)
		snprintf(r->detail, sizeof(r->detail), "'%s' was not found", name);
	else
		snprintf(r->detail, sizeof(r->detail), "cannot execute '%s': %s", name,
			strerror(errnum));
}

/* Of a keeper that is dead or dying: it, and what was below it. */
static bool reap(struct keeper *k)
{
	while (k->pid > 0 && waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	k->pid = 0;
	return reaper_kill(&k->reaper);
}

static int on_verdict(void *arg, bool *ret_over, struct error *err)
{
	struct keeper *k = arg;
	struct sandbox_result *r = k->result;
	struct verdict v;
	int got = fd_read_all(k->verdict, &v, sizeof(v), err);

	if (got < 0)
		return -1;
	*ret_over = true;
	if (got == 0)
		v = (struct verdict){.is_left = !reap(k)};
	if (v.is_left)
		return error_set(
			err, ERR_SYSTEM, "processes that the program started could not be killed");
	if (got == 0 && r->end == SANDBOX_EXITED)
		return error_set(err, ERR_DIED,
			"the process that watches over the program was killed, and so was the "
			"program with all it had started");
	if (r->end != SANDBOX_EXITED)
		return 0;
	if (v.errnum) {
		r->end = v.errnum == ENOENT ? SANDBOX_NOT_FOUND : SANDBOX_NOT_EXECUTABLE;
		describe_failure(k, v.errnum);
	} else if (WIFSIGNALED(v.status)) {
		r->end = SANDBOX_SIGNALLED;
		r->signal = WTERMSIG(v.status);
	} else {
		r->code = WEXITSTATUS(v.status);
	}
	return 0;
}

static void keeper_finish(struct keeper *k)
{
	fd_close(&k->life);
	fd_close(&k->verdict);
	/* What was killed for an error of ours is not reaped yet; a keeper in order leaves nothing.
	 */
	if (k->pid > 0)
		(void)!reap(k);
	reaper_end(&k->reaper);
}
#define auto_keeper CLEANUP(keeper_finish)

static int start(struct keeper *k, struct streams *s, int cwd, char *const *env, struct error *err)
{
	autoclose int inner_life = -1, inner_verdict = -1;
	int life[2], verdict[2];

	if (pipe2(life, O_CLOEXEC) < 0)
		return error_sys(err, "create a pipe");
	inner_life = life[0];
	k->life = life[1];
	if (pipe2(verdict, O_CLOEXEC) < 0)
		return error_sys(err, "create a pipe");
	k->verdict = verdict[0];
	inner_verdict = verdict[1];
	k->pid = fork();
	if (k->pid < 0)
		return error_sys(err, "fork");
	if (k->pid == 0) {
		/* Else the line to this very keeper would be held by itself. */
		close(k->life);
		close(k->verdict);
		close(s->in);
		close(s->out);
		close(s->err);
		keep(inner_life, inner_verdict, cwd, s->guest, s->exec->argv, env);
	}
	streams_started(s);
	return 0;
}

int keeper_exec(int cwd, char *const *env, uint64_t timeout_ns, const struct sandbox_exec *x,
	struct sandbox_result *ret, struct error *err)
{
	auto_streams struct streams s;
	auto_keeper struct keeper k = {
		.program = x->argv[0], .result = ret, .life = -1, .verdict = -1};

	*ret = (struct sandbox_result){0};
	reaper_begin(&k.reaper);
	if (streams_open(&s, x, ret, err) < 0 || start(&k, &s, cwd, env, err) < 0)
		return -1;
	s.timeout_ns = timeout_ns;
	s.event = k.verdict;
	s.on_event = on_verdict;
	s.kill = kill_keeper;
	s.arg = &k;
	return streams_serve(&s, err);
}
