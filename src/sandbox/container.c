/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One program in a native container of its own: see container.h.
 *
 * How it works. The container is that of `sandglass run`: launch_start makes it, the supervisor is
 * its init, and frames on the control socket tell how the program ended. Without determinism the
 * supervisor does nothing but that. Killing init kills every process inside, so a time-out leaves
 * nothing running, and the workspace is as it was left.
 */
#include "sandbox/container.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "base/temp.h"
#include "config/paths.h"
#include "config/supervisor.h"
#include "crypto/digest.h"
#include "launch/launch.h"
#include "sandbox/streams.h"
#include "wire/channel.h"
#include "wire/environment.h"
#include "wire/reasons.h"

/* As x86-64 numbers them, which is what a contract has. */
enum {
	RLIMIT_CPU_NUMBER = 0,
	RLIMIT_FSIZE_NUMBER = 1,
	RLIMIT_DATA_NUMBER = 2,
	RLIMIT_NPROC_NUMBER = 6,
	RLIMIT_NOFILE_NUMBER = 7,
	DETAIL_MAX = 64 * 1024
};

struct container {
	struct sandbox_result *result;
	struct channel channel;
	struct launch *launch;
	struct error failed; /* code 0: it started */
	bool has_end, was_reaped;
};

static size_t count_of(char *const *list)
{
	size_t count = 0;

	while (list && list[count])
		count++;
	return count;
}

static void bound_more(const struct container_more *more, struct contract *c)
{
	/* The signal first, a second before the kill that nobody can catch. */
	if (more->cpu_seconds)
		c->rlimits[RLIMIT_CPU_NUMBER] =
			(struct contract_rlimit){more->cpu_seconds, more->cpu_seconds + 1};
	if (more->file_bytes)
		c->rlimits[RLIMIT_FSIZE_NUMBER] =
			(struct contract_rlimit){more->file_bytes, more->file_bytes};
	if (more->open_files)
		c->rlimits[RLIMIT_NOFILE_NUMBER] =
			(struct contract_rlimit){more->open_files, more->open_files};
	if (more->tmp_bytes)
		c->tmp_bytes = more->tmp_bytes;
}

static int build_contract(const struct manifest *m, const struct container_more *more,
	const char *cwd, const struct sandbox_exec *x, struct contract *c, struct error *err)
{
	size_t count = count_of(x->argv);

	contract_init(c);
	c->deterministic = x->deterministic;
	c->workflow_id = mem_strdup("sandbox");
	digest_hkdf(c->workflow_id, strlen(c->workflow_id), "sandglass/entropy/v1", c->entropy_key,
		sizeof(c->entropy_key));
	if (m->memory_bytes)
		c->memory_bytes = m->memory_bytes;
	c->rlimits[RLIMIT_DATA_NUMBER] = (struct contract_rlimit){c->memory_bytes, c->memory_bytes};
	if (m->pids) {
		c->pids = (uint32_t)m->pids;
		c->rlimits[RLIMIT_NPROC_NUMBER] = (struct contract_rlimit){c->pids, c->pids};
	}
	c->argv = mem_array(count + 1, sizeof(*c->argv));
	for (size_t i = 0; i < count; i++)
		c->argv[i] = mem_strdup(x->argv[i]);
	c->workdir = mem_strdup(cwd);
	bound_more(more, c);
	if (more->bind_count)
		c->binds = mem_array(more->bind_count, sizeof(*c->binds));
	for (; c->bind_count < more->bind_count; c->bind_count++)
		c->binds[c->bind_count] = (struct contract_bind){
			.source = mem_strdup(more->binds[c->bind_count].source),
			.dest = mem_strdup(more->binds[c->bind_count].dest),
			.writable = more->binds[c->bind_count].writable};
	environment_init(c);
	if (environment_add(
		    c, (const char *const *)m->env, count_of(m->env), "manifest: env", err) < 0 ||
		environment_add(c, (const char *const *)x->env, count_of(x->env), "env", err) < 0)
		return -1;
	return contract_check(c, err);
}

/* What is left of a file, in one of its own: a guest may seek, and see nothing before it. */
static int copy_rest(int from, int *ret, struct error *err)
{
	enum { CHUNK = 64 * 1024 };
	autofree char *data = mem_alloc(CHUNK);
	autoclose int to = -1;
	ssize_t n;

	if (temp_open(&to, err) < 0)
		return -1;
	while ((n = read(from, data, CHUNK)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "read the input");
		if (fd_write_all(to, data, (size_t)n, err) < 0)
			return error_wrap(err, "copy the input");
	}
	*ret = take_fd(to);
	return 0;
}

/*
 * What the program's standard input is. A deterministic run of a file has the file itself, as
 * `sandglass run` has it: it is part of the contract, and no input from outside.
 */
static int choose_input(struct streams *s, struct contract *c, struct error *err)
{
	int input = s->exec->input;
	autoclose int fd = -1;
	char path[32];
	struct stat st;

	c->stdin_kind = input < 0 ? CONTRACT_STDIN_EMPTY : CONTRACT_STDIN_STREAM;
	if (input < 0 || !s->exec->deterministic || fstat(input, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", input);
	if (lseek(input, 0, SEEK_CUR) > 0) {
		if (copy_rest(input, &fd, err) < 0)
			return -1;
	} else {
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (fd < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return error_sys(err, "open the input again");
	if (digest_of_fd(fd, c->stdin_digest, NULL, err) < 0)
		return error_wrap(err, "the input");
	if (lseek(fd, 0, SEEK_SET) < 0)
		return error_sys(err, "rewind the input");
	c->stdin_kind = CONTRACT_STDIN_FILE;
	fd_close(&s->in);
	fd_close(&s->guest[0]);
	s->guest[0] = take_fd(fd);
	return 0;
}

static void kill_container(void *arg)
{
	struct container *k = arg;

	launch_kill(k->launch);
}

static void take_exit(struct container *k, struct bytes_reader *r)
{
	uint32_t kind = bytes_get_u32(r), code = bytes_get_u32(r), flags = bytes_get_u32(r);

	if (flags & FRAME_EXIT_OOM)
		k->result->oom = true;
	k->has_end = true;
	if (k->result->end != SANDBOX_EXITED)
		return; /* timed out, or in a deadlock */
	k->result->end = kind == 1 ? SANDBOX_SIGNALLED : SANDBOX_EXITED;
	k->result->code = kind == 1 ? 0 : (int)(code & 0xff);
	k->result->signal = kind == 1 ? (int)(code & 0x7f) : 0;
}

static void take_failed(struct container *k, struct bytes_reader *r)
{
	uint32_t code = bytes_get_u32(r), sys = bytes_get_u32(r);
	autofree char *message = bytes_get_string(r, DETAIL_MAX);
	autofree char *safe =
		str_printable(message, strlen(message), sizeof(k->result->detail) - 64);

	k->has_end = true;
	snprintf(k->result->detail, sizeof(k->result->detail), "%s", safe);
	if (code == ERR_NOTFOUND)
		k->result->end = SANDBOX_NOT_FOUND;
	else if (code == ERR_NOEXEC)
		k->result->end = SANDBOX_NOT_EXECUTABLE;
	else
		error_set(&k->failed,
			code > ERR_NONE && code < ERR_COUNT ? (enum errcode)code : ERR_DIED, "%s",
			safe);
	k->failed.sys = (int)sys;
}

static void take_not_enforced(struct container *k, struct bytes_reader *r)
{
	uint32_t reason = bytes_get_u32(r);
	autofree char *detail = NULL;

	bytes_get_u32(r);
	detail = bytes_get_string(r, DETAIL_MAX);
	if (reason >= REASON_COUNT || !reason_info((enum reason)reason)->fatal)
		return;
	if (k->result->enforced) {
		autofree char *safe = str_printable(detail, strlen(detail), 160);

		snprintf(k->result->detail, sizeof(k->result->detail), "%s: %s",
			reason_info((enum reason)reason)->code, safe);
	}
	k->result->enforced = false;
}

static void take_deadlock(struct container *k, struct bytes_reader *r)
{
	autofree char *detail = bytes_get_string(r, DETAIL_MAX);
	autofree char *safe = str_printable(detail, strlen(detail), sizeof(k->result->detail) - 64);

	k->has_end = true;
	k->result->end = SANDBOX_DEADLOCKED;
	snprintf(k->result->detail, sizeof(k->result->detail), "%s", safe);
}

static int take_frames(struct container *k, struct error *err)
{
	static const struct {
		enum frame_type type;
		void (*take)(struct container *k, struct bytes_reader *r);
	} rows[] = {{FRAME_EXIT, take_exit}, {FRAME_FAILED, take_failed},
		{FRAME_NOT_ENFORCED, take_not_enforced}, {FRAME_DEADLOCK, take_deadlock}};
	struct bytes_reader payload;
	uint32_t type;
	int r;

	while ((r = channel_next(&k->channel, &type, &payload, err)) > 0)
		for (size_t i = 0; i < ARRAY_LEN(rows); i++)
			if (rows[i].type == type) {
				rows[i].take(k, &payload);
				if (payload.bad)
					return error_set(err, ERR_FORMAT, "malformed %s frame",
						frame_name(type));
			}
	return r;
}

static int on_event(void *arg, bool *ret_over, struct error *err)
{
	struct container *k = arg;

	if (channel_fill(&k->channel, err) < 0 || channel_flush(&k->channel, err) < 0 ||
		take_frames(k, err) < 0)
		return -1;
	*ret_over = k->channel.ended;
	return 0;
}

static int start(struct container *k, struct contract *c, const struct container_more *more,
	struct streams *s, struct error *err)
{
	auto_conditions struct conditions cond = {.cpu = sched_getcpu()};
	auto_bytes struct bytes text = {0};
	autofree char *state = c->deterministic ? paths_state() : NULL;
	autoclose int supervisor = -1, inside = -1;
	int pair[2];

	if (supervisor_open(&supervisor, err) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return error_sys(err, "create the control socket");
	inside = pair[1];
	if (channel_open(&k->channel, pair[0], err) < 0 ||
		launch_deny_filter(&cond.filter, &cond.filter_len, err) < 0)
		return -1;
	for (int i = 0; i < 3; i++)
		/* A file stays its owner's. */
		if ((i > 0 || c->stdin_kind != CONTRACT_STDIN_FILE) &&
			launch_give(s->guest[i], err) < 0)
			return -1;
	if (launch_start(&(struct launch_spec){.contract = c,
				 .state = state,
				 .has_tree = more->has_tree,
				 .tree = more->has_tree ? more->tree : -1,
				 .supervisor = supervisor,
				 .control = inside,
				 .stdio = {s->guest[0], s->guest[1], s->guest[2]}},
		    &k->launch, err) < 0)
		return -1;
	streams_started(s);
	cond.memory_watch = launch_needs_memory_watch(k->launch);
	if (more->data_is_free && !cond.memory_watch)
		c->rlimits[RLIMIT_DATA_NUMBER] = (struct contract_rlimit){UINT64_MAX, UINT64_MAX};
	contract_encode(&text, c, &cond);
	if (text.len > FRAME_PAYLOAD_MAX)
		return error_set(err, ERR_LIMIT, "contract of %zu bytes", text.len);
	channel_put(&k->channel, FRAME_LAUNCH, text.data, text.len);
	return channel_flush(&k->channel, err);
}

static void container_finish(struct container *k)
{
	channel_close(&k->channel);
	launch_free(k->launch);
	*k = (struct container){.channel = {.fd = -1}};
}
#define auto_container CLEANUP(container_finish)

/* What init's death says when no frame did. */
static int judge(struct container *k, struct error *err)
{
	int status;

	if (launch_wait(k->launch, &status, err) < 0)
		return -1;
	k->result->oom = k->result->oom || launch_was_oom(k->launch);
	if (k->failed.code != ERR_NONE) {
		*err = k->failed;
		return -1;
	}
	if (k->has_end || k->result->end != SANDBOX_EXITED)
		return 0;
	if (!k->result->oom)
		return error_set(err, ERR_DIED, "the supervisor died before the program ended");
	k->result->end = SANDBOX_SIGNALLED;
	k->result->signal = 9;
	return 0;
}

static void tell_degraded(const struct container *k, const struct container_more *more)
{
	size_t count = 0;
	const struct launch_degraded *list = launch_degraded(k->launch, &count);

	for (size_t i = 0; more->degraded && i < count; i++)
		more->degraded(more->arg, list[i].detail);
}

int container_exec_more(const struct manifest *m, const struct container_more *more,
	const char *cwd, const struct sandbox_exec *x, struct sandbox_result *ret,
	struct error *err)
{
	auto_contract struct contract c = {0};
	auto_streams struct streams s;
	auto_container struct container k = {.result = ret, .channel = {.fd = -1}};

	*ret = (struct sandbox_result){
		.was_deterministic = x->deterministic, .enforced = x->deterministic};
	if (streams_open(&s, x, ret, err) < 0 || build_contract(m, more, cwd, x, &c, err) < 0 ||
		choose_input(&s, &c, err) < 0 || start(&k, &c, more, &s, err) < 0)
		return -1;
	tell_degraded(&k, more);
	s.timeout_ns = x->timeout_ns ? x->timeout_ns : m->timeout_seconds * UINT64_C(1000000000);
	s.event = k.channel.fd;
	s.on_event = on_event;
	s.kill = kill_container;
	s.arg = &k;
	if (streams_serve(&s, err) < 0)
		return -1;
	return judge(&k, err);
}

int container_exec(const struct manifest *m, const char *dir, int tree, const char *cwd,
	const struct sandbox_exec *x, struct sandbox_result *ret, struct error *err)
{
	autofree char *source = dir ? mem_strdup(dir) : NULL, *dest = mem_strdup(m->root);
	const struct contract_bind bind = {.source = source, .dest = dest, .writable = true};
	const struct container_more more = {
		.binds = &bind, .bind_count = dir != NULL, .has_tree = tree >= 0, .tree = tree};

	return container_exec_more(m, &more, cwd, x, ret, err);
}
