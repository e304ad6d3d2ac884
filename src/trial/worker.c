/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pack's program in a container: see worker.h.
 *
 * How it works. The serving process is a fork of ours: it runs the container, carries bytes between
 * a socket and the program, keeps the last of what is printed, and tells at the end how it went. It
 * dies with us, and the container with it. The program's descriptors 3 and 4 are made of its input
 * and output by a shell that becomes the program; what it prints goes where errors go.
 */
#include "trial/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "sandbox/container.h"

enum { CHUNK = 64 * 1024, GRACE_MS = 10000 };
#define MS_NS UINT64_C(1000000)
/* What takes a bound away where the contract wants a number. */
#define NO_BOUND (UINT64_C(1) << 46)
#define NO_PIDS (UINT64_C(1) << 20)
#define LOADER "/pack-host"

struct serving {
	const struct worker_spec *spec;
	struct worker_end *end;
	int socket;
	uint64_t printed;
};

static void keep_tail(struct worker_end *e, const char *data, size_t len)
{
	size_t drop;

	if (len > WORKER_TAIL) {
		data += len - WORKER_TAIL;
		len = WORKER_TAIL;
	}
	drop = e->tail_len + len > WORKER_TAIL ? e->tail_len + len - WORKER_TAIL : 0;
	memmove(e->tail, e->tail + drop, e->tail_len - drop);
	memcpy(e->tail + e->tail_len - drop, data, len);
	e->tail_len = (uint32_t)(e->tail_len - drop + len);
}

static int take_output(
	void *arg, enum sandbox_stream stream, const void *data, size_t len, struct error *err)
{
	struct serving *s = arg;
	uint64_t max = s->spec->limits->max_output;

	if (stream == SANDBOX_OUT)
		return fd_write_all(s->socket, data, len, err);
	keep_tail(s->end, data, len);
	s->printed += len;
	if (max && s->printed > max) {
		s->end->is_over_output = true;
		return error_set(err, ERR_LIMIT, "too much output");
	}
	return 0;
}

static void take_degraded(void *arg, const char *detail)
{
	struct worker_end *e = ((struct serving *)arg)->end;

	if (e->degraded_count < WORKER_DEGRADED_MAX)
		snprintf(e->degraded[e->degraded_count++], sizeof(e->degraded[0]), "%s", detail);
}

/* The words that become the program (caller frees with pack_code_finish). */
static void make_words(const struct worker_spec *s, struct pack_code *ret)
{
	static const char *const shell[] = {
		"/bin/sh", "-c", "exec \"$@\" 3<&0 4>&1 </dev/null >&2", "pack"};
	size_t n = 0, more = 0;

	while (s->code->exec && s->code->exec[more])
		more++;
	ret->exec = mem_array(ARRAY_LEN(shell) + more + 3, sizeof(*ret->exec));
	for (; n < ARRAY_LEN(shell); n++)
		ret->exec[n] = mem_strdup(shell[n]);
	for (size_t i = 0; i < more; i++)
		ret->exec[n++] = mem_strdup(s->code->exec[i]);
	if (s->code->library) {
		ret->exec[n++] = mem_strdup(LOADER);
		ret->exec[n++] = mem_strdup(s->code->library);
	}
}

static const char *passed(char *const *env, const char *name)
{
	for (; env && *env; env++)
		if (str_has_prefix(*env, name))
			return *env + strlen(name);
	return NULL;
}

/* A Python program finds the modules beside it, and then what was passed on. */
static void add_python_path(const struct worker_spec *s, char ***env, size_t *count)
{
	const char *first = s->code->exec ? path_basename(s->code->exec[0]) : "";
	const char *more = passed(s->env, "PYTHONPATH=");

	if (!str_has_prefix(first, "python"))
		return;
	*env = mem_grow(*env, *count + 3, sizeof(**env));
	(*env)[(*count)++] = str_format("PYTHONPATH=/pack%s%s", more ? ":" : "", more ? more : "");
	(*env)[(*count)++] = mem_strdup("PYTHONDONTWRITEBYTECODE=1");
	(*env)[*count] = NULL;
}

static void make_env(const struct worker_spec *s, struct pack_code *ret)
{
	size_t count = 0;

	ret->exec = mem_array(1, sizeof(*ret->exec));
	for (char *const *e = s->env; e && *e; e++) {
		ret->exec = mem_grow(ret->exec, count + 2, sizeof(*ret->exec));
		ret->exec[count++] = mem_strdup(*e);
		ret->exec[count] = NULL;
	}
	add_python_path(s, &ret->exec, &count);
}

static void run_container(struct serving *s, int stop)
{
	const struct worker_spec *spec = s->spec;
	const struct trial_limits *l = spec->limits;
	autofree char *tree = spec->tree ? mem_strdup(spec->tree) : NULL, *at = mem_strdup("/pack");
	autofree char *host = spec->host ? mem_strdup(spec->host) : NULL, *hat = mem_strdup(LOADER);
	struct contract_bind binds[2] = {{0}};
	auto_pack_code struct pack_code words = {0}, env = {0};
	auto_manifest struct manifest m;
	struct container_more more = {.binds = binds,
		.cpu_seconds = l->cpu_seconds,
		.file_bytes = l->max_file_size,
		.open_files = l->max_files,
		.tmp_bytes = l->max_disk ? l->max_disk : NO_BOUND,
		.data_is_free = true,
		.degraded = take_degraded,
		.arg = s};

	if (tree)
		binds[more.bind_count++] = (struct contract_bind){.source = tree, .dest = at};
	if (host)
		binds[more.bind_count++] = (struct contract_bind){.source = host, .dest = hat};
	make_words(spec, &words);
	make_env(spec, &env);
	manifest_init(&m);
	m.memory_bytes = l->memory ? l->memory : NO_BOUND;
	m.pids = l->pids ? l->pids : NO_PIDS;
	struct sandbox_exec x = {.argv = words.exec,
		.env = env.exec,
		/* Who started us ends it; this is for when nobody does. */
		.timeout_ns = UINT64_MAX / 4,
		.input = s->socket,
		.output_max = UINT64_MAX,
		.deterministic = spec->deterministic,
		.sink = take_output,
		.sink_arg = s,
		.stop = stop};
	struct error err = {0};

	if (container_exec_more(&m, &more, tree ? at : "/", &x, &s->end->result, &err) < 0)
		s->end->failed = err;
}

NORETURN static void serve(const struct worker_spec *spec, int sock, int stop, int end_fd)
{
	struct worker_end *e = mem_alloc(sizeof(*e));
	struct serving s = {.spec = spec, .end = e, .socket = sock};

	e->is_known = true;
	run_container(&s, stop);
	(void)!fd_write_all(end_fd, e, sizeof(*e), NULL);
	_exit(0);
}

int worker_start(struct worker *w, const struct worker_spec *spec, struct error *err)
{
	int lines[2], stop[2] = {-1, -1}, end[2] = {-1, -1};
	pid_t parent = getpid();

	*w = (struct worker){.socket = -1, .stop = -1, .end_fd = -1};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, lines) < 0)
		return error_sys(err, "make a socket");
	w->socket = lines[0];
	if (pipe2(stop, O_CLOEXEC) < 0 || pipe2(end, O_CLOEXEC) < 0 ||
		fcntl(w->socket, F_SETFL, O_NONBLOCK) < 0) {
		error_fill_sys(err, "make a pipe");
		fd_close(&lines[1]);
		fd_close(&stop[0]);
		fd_close(&stop[1]);
		return -1;
	}
	w->stop = stop[1];
	w->end_fd = end[0];
	fflush(NULL);
	w->pid = fork();
	if (w->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		close(lines[0]);
		close(stop[1]);
		close(end[0]);
		serve(spec, lines[1], stop[0], end[1]);
	}
	close(lines[1]);
	close(stop[0]);
	close(end[1]);
	if (w->pid < 0) {
		w->pid = 0;
		return error_sys(err, "start a process");
	}
	return 0;
}

/* Milliseconds to the deadline, -1: there is none, 0: it is over. */
static int left_ms(uint64_t deadline_ns)
{
	uint64_t now = clock_host_ns();

	if (!deadline_ns)
		return -1;
	if (now >= deadline_ns)
		return 0;
	now = (deadline_ns - now) / MS_NS + 1;
	return now > INT32_MAX ? INT32_MAX : (int)now;
}

/* 1: ready; -1 with ERR_TIMEOUT. */
static int wait_for(int fd, short events, uint64_t deadline_ns, struct error *err)
{
	struct pollfd p = {.fd = fd, .events = events};

	for (;;) {
		int ms = left_ms(deadline_ns), n = ms == 0 ? 0 : poll(&p, 1, ms);

		if (n > 0)
			return 1;
		if (n == 0 && left_ms(deadline_ns) == 0)
			return error_set(err, ERR_TIMEOUT, "the time is over");
		if (n < 0 && errno != EINTR)
			return error_sys(err, "poll");
	}
}

/* 1: got some; 0: the end. */
static int receive(struct worker *w, struct error *err)
{
	autofree unsigned char *data = mem_alloc(CHUNK);
	ssize_t n;

	(void)err;
	if (w->taken && w->in.data) {
		memmove(w->in.data, w->in.data + w->taken, w->in.len - w->taken);
		w->in.len -= w->taken;
		w->taken = 0;
	}
	n = read(w->socket, data, CHUNK);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 1;
	if (n <= 0)
		return 0;
	bytes_put(&w->in, data, (size_t)n);
	return 1;
}

int worker_hear(struct worker *w, uint64_t deadline_ns, const char **ret, size_t *ret_len,
	struct error *err)
{
	size_t looked = 0;

	for (;;) {
		size_t len = w->in.len - w->taken;
		unsigned char *from = w->in.data ? w->in.data + w->taken : NULL;
		unsigned char *end =
			from && len > looked ? memchr(from + looked, '\n', len - looked) : NULL;

		if (end) {
			*end = '\0';
			*ret = (const char *)from;
			*ret_len = (size_t)(end - from);
			w->taken += *ret_len + 1;
			return 1;
		}
		looked = len;
		if (len > WORKER_LINE_MAX)
			return error_set(err, ERR_LIMIT, "it spoke a line of more than %d bytes",
				WORKER_LINE_MAX);
		if (w->is_mute)
			return 0;
		if (wait_for(w->socket, POLLIN, deadline_ns, err) < 0)
			return -1;
		w->is_mute = receive(w, err) == 0;
	}
}

int worker_tell(
	struct worker *w, uint64_t deadline_ns, const void *line, size_t len, struct error *err)
{
	const char *data = line;

	while (len) {
		ssize_t n = send(w->socket, data, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN) {
			if (wait_for(w->socket, POLLOUT, deadline_ns, err) < 0)
				return -1;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return 0; /* it is gone: hearing tells */
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* What the serving process tells; it is then reaped. */
static void take_end(struct worker *w)
{
	struct error err;

	if (fd_read_all(w->end_fd, &w->end, sizeof(w->end), &err) <= 0)
		w->end = (struct worker_end){0};
	while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
		;
	w->pid = 0;
}

int worker_wait(struct worker *w, uint64_t deadline_ns)
{
	struct error err;

	if (w->pid == 0)
		return 1;
	/* What it still says is heard by nobody, and must not hold it up. */
	while (!w->is_mute) {
		if (wait_for(w->socket, POLLIN, deadline_ns, &err) < 0)
			return 0;
		w->is_mute = receive(w, &err) == 0;
		w->taken = w->in.len;
	}
	if (wait_for(w->end_fd, POLLIN, deadline_ns, &err) < 0)
		return 0;
	take_end(w);
	return 1;
}

void worker_finish(struct worker *w)
{
	if (w->pid) {
		fd_close(&w->stop);
		/* A serving process that is stuck is killed, and its container with it. */
		if (!worker_wait(w, clock_host_ns() + GRACE_MS * MS_NS)) {
			kill(w->pid, SIGKILL);
			take_end(w);
		}
	}
	fd_close(&w->socket);
	fd_close(&w->stop);
	fd_close(&w->end_fd);
	bytes_finish(&w->in);
}
