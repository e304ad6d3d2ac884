/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass session exec: runs a program in a session; its streams and its status are ours. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/session.h"
#include "codec/json.h"
#include "run/options.h"

enum { STATUS_SETUP = 125 };

struct values {
	const char *cwd, *input;
	struct run_list env;
	uint64_t timeout_ns, max_output;
	bool deterministic, json;
};

static const struct cli_option options[] = {
	{"cwd", CLI_TEXT, "DIR", "where it starts, below the root (the root)",
		offsetof(struct values, cwd)},
	{"env", CLI_LIST, "NAME=VALUE", "another environment variable; may be repeated",
		offsetof(struct values, env)},
	{"timeout", CLI_DURATION, "TIME",
		"kill it and all it started after this long (the manifest's)",
		offsetof(struct values, timeout_ns),
		"The session stays usable. The manifest's own default is 1800 seconds."},
	{"stdin", CLI_TEXT, "FILE", "its standard input; - is ours (empty)",
		offsetof(struct values, input),
		"With --deterministic it counts as input from outside, a file too: the status is "
		"121 when it is read."},
	{"max-output", CLI_SIZE, "BYTES",
		"of each stream; what is over it is dropped and told (16M)",
		offsetof(struct values, max_output)},
	{"deterministic", CLI_FLAG, NULL, "run it as 'sandglass run' would",
		offsetof(struct values, deterministic)},
	{0},
};

static int pass_on(
	void *arg, enum sandbox_stream stream, const void *data, size_t len, struct error *err)
{
	(void)arg;
	return fd_write_all(stream == SANDBOX_OUT ? STDOUT_FILENO : STDERR_FILENO, data, len, err);
}

/* Standard output is the program's, so the result goes to standard error. */
static void print_result(const struct sandbox_result *r)
{
	auto_json json_t *object = json_object();
	autofree char *text = NULL;

	json_put(object, "end", json_str(sandbox_end_name(r->end)));
	json_put(object, "code",
		r->end == SANDBOX_EXITED ? json_u64((uint64_t)r->code) : json_null());
	json_put(object, "signal",
		r->end == SANDBOX_SIGNALLED ? json_u64((uint64_t)r->signal) : json_null());
	json_put(object, "status", json_u64((uint64_t)sandbox_result_status(r)));
	json_put(object, "oom", json_boolean(r->oom));
	json_put(object, "stdout_bytes", json_u64(r->out_bytes));
	json_put(object, "stderr_bytes", json_u64(r->err_bytes));
	json_put(object, "stdout_truncated", json_boolean(r->out_truncated));
	json_put(object, "stderr_truncated", json_boolean(r->err_truncated));
	json_put(object, "duration_ns", json_u64(r->duration_ns));
	json_put(
		object, "enforced", r->was_deterministic ? json_boolean(r->enforced) : json_null());
	json_put(object, "detail", json_str(r->detail));
	text = json_text(object);
	fprintf(stderr, "%s\n", text);
}

/* What the status alone does not say. */
static void say_result(const struct sandbox_result *r, const char *program)
{
	autofree char *name = str_printable(program, strlen(program), 200), *line = NULL;

	if (r->end == SANDBOX_NOT_FOUND || r->end == SANDBOX_NOT_EXECUTABLE)
		line = r->detail[0] ? mem_strdup(r->detail)
				    : str_format("'%s' %s", name,
					      r->end == SANDBOX_NOT_FOUND ? "was not found"
									  : "cannot be executed");
	else if (r->end == SANDBOX_TIMED_OUT)
		line = str_format("'%s' took too long and was killed with all it started", name);
	else if (r->end == SANDBOX_STOPPED)
		line = str_format("the session was shut down; '%s' was killed", name);
	else if (r->end == SANDBOX_DEADLOCKED)
		line = str_format("deadlock: %s", r->detail);
	else if (r->was_deterministic && !r->enforced)
		line = str_format("determinism not enforced: %s", r->detail);
	if (line)
		cli_say(line);
	if (r->out_truncated || r->err_truncated)
		cli_say("output over --max-output was dropped");
}

static int open_input(const char *path, int *ret, struct error *err)
{
	if (!path)
		return 0;
	*ret = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
				      : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return *ret < 0 ? error_sys(err, "--stdin '%.300s'", path) : 0;
}

static int run(void *values, char **words)
{
	struct values *v = values;
	auto_session_store struct session_store *store = NULL;
	auto_session struct session *s = NULL;
	autofree char **env = mem_array(v->env.count + 1, sizeof(*env));
	autoclose int input = -1;
	struct sandbox_result r;
	struct error err = {0};
	struct sandbox_exec x = {.argv = words[0] ? words + 1 : words,
		.cwd = v->cwd,
		.timeout_ns = v->timeout_ns,
		.output_max = v->max_output,
		.deterministic = v->deterministic,
		.sink = pass_on};

	if (!cli_words_are(words, 2, SIZE_MAX, "session exec ID [OPTION...] -- CMD [ARG...]"))
		return STATUS_SETUP;
	for (size_t i = 0; i < v->env.count; i++)
		env[i] = (char *)(uintptr_t)v->env.items[i];
	x.env = env;
	if (open_input(v->input, &input, &err) < 0)
		return cli_fail(&err, STATUS_SETUP);
	x.input = input;
	if (session_store_open(&store, &err) < 0 || session_open(store, words[0], &s, &err) < 0 ||
		session_exec(s, &x, &r, &err) < 0)
		return cli_fail(&err, STATUS_SETUP);
	if (v->json)
		print_result(&r);
	else
		say_result(&r, x.argv[0]);
	return sandbox_result_status(&r);
}

const struct cli_command command_session_exec = {
	.name = "session exec",
	.arguments = "ID -- CMD [ARG...]",
	.summary = "Run a program in a session",
	.details = "The environment is a fixed one, then the manifest's, then --env; nothing is "
		   "inherited.\n"
		   "With --json the result is one line on standard error.\n",
	.options = options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run,
	.usage_status = STATUS_SETUP,
};
