/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One program as an ordinary process tree: see keeper.h.
 *
 * How it works. A forked keeper makes itself the reaper of all its descendants, forks the program
 * and waits, for its end or for the end of the life line, a pipe that only the caller holds open.
 * Then it kills every descendant it finds, stopping them first so that none forks meanwhile, until
 * it has no child left, and writes a verdict. A keeper that is killed itself leaves the program to
 * its parent-death signal.
 */
#include "sandbox/keeper.h"

#include <dirent.h>
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

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "sandbox/streams.h"

enum { FIRST_FREE = 3, CHASES = 2000, PIDS_MAX = 65536, UMASK = 022 };
#define KILL_NS UINT64_C(10000000000)

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
};

struct processes {
	pid_t pid[PIDS_MAX], parent[PIDS_MAX];
	size_t count;
};

/* "PID (NAME) STATE PARENT ..." of every process. */
static void read_processes(struct processes *all)
{
	DIR *proc = opendir("/proc");
	const struct dirent *d;

	all->count = 0;
	while (proc && (d = readdir(proc)) && all->count < PIDS_MAX) {
		char path[300], text[512];
		const char *p;
		ssize_t n;
		int fd, parent;

		if (d->d_name[0] < '1' || d->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/stat", d->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
		if (fd >= 0)
			close(fd);
		text[n > 0 ? n : 0] = '\0';
		p = strrchr(text, ')');
		if (!p || sscanf(p, ") %*c %d", &parent) != 1)
			continue;
		sscanf(text, "%d", &all->pid[all->count]);
		all->parent[all->count++] = parent;
	}
	if (proc)
		closedir(proc);
}

/* Signals every process below self; how many there were. */
static size_t signal_below(struct processes *all, pid_t self, int sig)
{
	size_t found = 0, before;
	static bool below[PIDS_MAX];

	read_processes(all);
	memset(below, 0, sizeof(below));
	do {
		before = found;
		for (size_t i = 0; i < all->count; i++) {
			bool is_ours = all->parent[i] == self;

			for (size_t k = 0; k < all->count && !is_ours && !below[i]; k++)
				is_ours = below[k] && all->pid[k] == all->parent[i];
			if (!is_ours || below[i])
				continue;
			below[i] = true;
			found++;
			kill(all->pid[i], sig);
		}
	} while (found != before);
	return found;
}

/* Signals the keeper's own children, in a fraction of the time that all of /proc takes. */
static void kill_children(int list)
{
	static char text[65536];
	ssize_t n = list < 0 ? -1 : pread(list, text, sizeof(text) - 1, 0);
	int pid, len;

	text[n > 0 ? n : 0] = '\0';
	/* A number that the buffer cuts off has no space behind it. */
	for (const char *p = text; sscanf(p, "%d%n", &pid, &len) == 1 && p[len] == ' '; p += len)
		kill(pid, SIGKILL);
}

/*
 * True when no child is left. What forks and ends, again and again, is in no list of /proc long
 * enough; but who loses its parent is the keeper's child, and that list is short.
 */
static bool chase(int list)
{
	for (int i = 0; i < CHASES; i++) {
		pid_t pid;

		kill_children(list);
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			continue;
		if (pid < 0 && errno == ECHILD)
			return true;
	}
	return false;
}

/* Everything below the keeper ends; false when something could not be made to in KILL_NS. */
static bool kill_all(void)
{
	static struct processes all;
	uint64_t deadline_ns = clock_host_ns() + KILL_NS;
	int list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);

	do {
		signal_below(&all, getpid(), SIGSTOP);
		signal_below(&all, getpid(), SIGKILL);
		if (chase(list))
			return true;
	} while (clock_host_ns() < deadline_ns);
	return false;
}

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
	int report[2];
	pid_t program;

	setsid();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
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
	v.is_left = !kill_all();
	_exit(write(verdict, &v, sizeof(v)) == sizeof(v) ? 0 : 1);
}

static void let_go(void *arg)
{
	struct keeper *k = arg;

	fd_close(&k->life);
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
		return r->end != SANDBOX_EXITED
			       ? 0
			       : error_set(err, ERR_DIED, "the keeper of the program died");
	if (v.is_left)
		return error_set(
			err, ERR_SYSTEM, "processes that the program started could not be killed");
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
	while (k->pid > 0 && waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
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
	if (streams_open(&s, x, ret, err) < 0 || start(&k, &s, cwd, env, err) < 0)
		return -1;
	s.timeout_ns = timeout_ns;
	s.event = k.verdict;
	s.on_event = on_verdict;
	s.kill = let_go;
	s.arg = &k;
	return streams_serve(&s, err);
}
