/* SPDX-License-Identifier: Apache-2.0 */
/* An attached client: see attached.h. Nothing of what it says is kept but digests and an end. */
#include "replicate/attached.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/signals.h"

enum { CHUNK = 256 * 1024 };

struct stream {
	int fd; /* -1: at its end */
	struct digest *digest;
	uint64_t bytes;
};

struct reading {
	struct stream streams[2]; /* standard output, standard error */
	struct attached *ret;
	char *chunk;
};

static void keep_tail(struct attached *a, const char *data, size_t len)
{
	size_t room = ATTACHED_TAIL, drop;

	if (len >= room) {
		memcpy(a->tail, data + len - room, room);
		a->tail_len = room;
		return;
	}
	drop = a->tail_len + len > room ? a->tail_len + len - room : 0;
	memmove(a->tail, a->tail + drop, a->tail_len - drop);
	memcpy(a->tail + a->tail_len - drop, data, len);
	a->tail_len += len - drop;
}

static int take(struct reading *r, int which, struct error *err)
{
	struct stream *s = &r->streams[which];
	ssize_t n = read(s->fd, r->chunk, CHUNK);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n < 0)
		return error_sys(err, "read from the runtime");
	if (n == 0) {
		fd_close(&s->fd);
		return 0;
	}
	digest_update(s->digest, r->chunk, (size_t)n);
	s->bytes += (uint64_t)n;
	if (which == 1)
		keep_tail(r->ret, r->chunk, (size_t)n);
	return 0;
}

static int start(char *const *argv, const int ends[2], pid_t *ret, struct error *err)
{
	autoclose int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	pid_t parent = getpid(), pid = null < 0 ? -1 : fork();

	if (pid < 0)
		return error_sys(err, "start '%s'", argv[0]);
	if (pid == 0) {
		sigset_t none;

		sigemptyset(&none);
		/* In a session of its own: keys typed at our terminal are ours. */
		if (setsid() < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent ||
			sigprocmask(SIG_SETMASK, &none, NULL) < 0 || dup2(null, 0) < 0 ||
			dup2(ends[0], 1) < 0 || dup2(ends[1], 2) < 0)
			_exit(125);
		execvp(argv[0], argv);
		_exit(125);
	}
	*ret = pid;
	return 0;
}

static int open_pipe(struct stream *s, int *ret_end, struct error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(err, "create a pipe");
	s->fd = ends[0];
	*ret_end = ends[1];
	return 0;
}

/* Until the client has ended: a daemon that holds the streams open does not hold us. */
static int loop(struct reading *r, int pidfd, int signals, uint64_t deadline_ns, struct error *err)
{
	for (;;) {
		struct pollfd fds[4] = {{r->streams[0].fd, POLLIN, 0},
			{r->streams[1].fd, POLLIN, 0}, {pidfd, POLLIN, 0}, {signals, POLLIN, 0}};
		uint64_t now = clock_host_ns();
		uint64_t left = now < deadline_ns ? (deadline_ns - now) / 1000000 + 1 : 0;

		r->ret->is_timed_out = left == 0;
		if (left == 0)
			return 0;
		if (poll(fds, 4, left > INT32_MAX ? INT32_MAX : (int)left) < 0 && errno != EINTR)
			return error_sys(err, "poll");
		for (int i = 0; i < 2; i++)
			if (fds[i].revents && take(r, i, err) < 0)
				return -1;
		r->ret->is_interrupted = fds[3].revents != 0;
		if (r->ret->is_interrupted ||
			(fds[2].revents && !fds[0].revents && !fds[1].revents))
			return 0;
	}
}

static void reap(pid_t pid, struct attached *a)
{
	int status = 0;

	if (a->is_timed_out || a->is_interrupted)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	a->code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void reading_finish(struct reading *r)
{
	for (int i = 0; i < 2; i++) {
		fd_close(&r->streams[i].fd);
		digest_free(r->streams[i].digest);
	}
	free(r->chunk);
}

int attached_run(char *const *argv, uint64_t timeout_ns, struct attached *ret, struct error *err)
{
	struct attached a = {0};
	struct reading CLEANUP(reading_finish)
		r = {.streams = {{-1, digest_new(), 0}, {-1, digest_new(), 0}},
			.ret = &a,
			.chunk = mem_alloc(CHUNK)};
	autoclose int out = -1, errs = -1, signals = -1, pidfd = -1;
	pid_t pid;
	int failed;

	if (open_pipe(&r.streams[0], &out, err) < 0 || open_pipe(&r.streams[1], &errs, err) < 0 ||
		signals_open(0, &signals, err) < 0 ||
		start(argv, (int[2]){out, errs}, &pid, err) < 0)
		return -1;
	fd_close(&out);
	fd_close(&errs);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	failed = loop(&r, pidfd, signals, clock_host_ns() + timeout_ns, err);
	a.is_interrupted = a.is_interrupted || failed < 0;
	reap(pid, &a);
	if (failed < 0)
		return -1;
	a.out_bytes = r.streams[0].bytes;
	a.err_bytes = r.streams[1].bytes;
	digest_text(r.streams[0].digest, a.out);
	digest_text(r.streams[1].digest, a.err);
	*ret = a;
	return 0;
}
