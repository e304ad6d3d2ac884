/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a run again: see recompute.h.
 *
 * Theory of operation. The contract is turned back into a command line of `sandglass run` in the
 * directory where it was, and that is run as a process of its own. Nothing here has to be believed:
 * the new run's report has a contract of its own, and only when its digest is the receipt's was it
 * the same run.
 */
#include "cli/recompute.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attest/receipt.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/temp.h"

enum { REPORT_MAX = 64 << 20 };

/* A command line that grows; each word is owned. */
struct words {
	char **items;
	size_t count;
};

static void words_finish(struct words *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->items[i]);
	free(w->items);
}

/* Takes word; NULL ends the line and is not counted. */
static void add(struct words *w, char *word)
{
	w->items = mem_grow(w->items, w->count + 2, sizeof(*w->items));
	w->items[w->count] = word;
	w->items[w->count + 1] = NULL;
	w->count += word != NULL;
}

static void add_option(struct words *w, const char *name, const char *value)
{
	if (value && value[0])
		add(w, str_format("--%s=%s", name, value));
}

static void add_number(struct words *w, const char *name, const json_t *value)
{
	if (json_is_integer(value) && json_integer_value(value) > 0)
		add(w, str_format("--%s=%" JSON_INTEGER_FORMAT, name, json_integer_value(value)));
}

static const json_t *get(const json_t *o, const char *name)
{
	return json_object_get(o, name);
}

static const char *text_of(const json_t *o, const char *name)
{
	return json_string_value(get(o, name));
}

/* Words that are no UTF-8 are objects in the JSON, and are not given back. */
static bool add_list(struct words *w, const char *option, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *item = json_string_value(json_array_get(list, i));

		if (!item)
			return false;
		if (option)
			add_option(w, option, item);
		else
			add(w, mem_strdup(item));
	}
	return true;
}

static void add_sched(struct words *w, const json_t *sched)
{
	const json_t *switches = get(sched, "switches");
	struct bytes CLEANUP(bytes_finish) list = {0};

	add_number(w, "sched-seed", get(sched, "seed"));
	for (size_t i = 0; i < json_array_size(switches); i++) {
		const char *one = json_string_value(json_array_get(switches, i));

		if (list.len)
			bytes_put_u8(&list, ',');
		if (one)
			bytes_put(&list, one, strlen(one));
	}
	bytes_put_u8(&list, 0);
	add_option(w, "switches", (const char *)list.data);
}

static void add_inputs(struct words *w, const struct recompute_inputs *in)
{
	add_option(w, "rootfs", in->rootfs);
	for (size_t i = 0; i < in->bind_ro.count; i++)
		add_option(w, "bind-ro", in->bind_ro.items[i]);
	for (size_t i = 0; i < in->bind.count; i++)
		add_option(w, "bind", in->bind.items[i]);
}

static bool is_image(const json_t *contract)
{
	const char *kind = text_of(get(contract, "rootfs"), "kind");

	return kind && strcmp(kind, "image") == 0;
}

/* What the image says of a run is in the contract already, worked out. */
static void add_image(struct words *w, const json_t *contract)
{
	const json_t *rootfs = get(contract, "rootfs");

	if (!is_image(contract))
		return;
	add_option(w, "image", text_of(rootfs, "digest"));
	add(w, mem_strdup("--entrypoint="));
	add(w, str_format("--user=%" PRId64 ":%" PRId64,
		       (int64_t)json_integer_value(get(contract, "uid")),
		       (int64_t)json_integer_value(get(contract, "gid"))));
}

static bool make_line(struct words *w, const json_t *contract, const struct recompute_inputs *in,
	struct verdict *v)
{
	json_int_t epoch = json_integer_value(get(get(contract, "clock"), "epoch_ns"));
	autofree char *time = str_format("%" PRId64 ".%09" PRId64, (int64_t)(epoch / 1000000000),
		(int64_t)(epoch % 1000000000));

	if (json_is_false(get(contract, "deterministic"))) {
		verdict_add(v, VERDICT_NOT_RECOMPUTABLE, "it was run without determinism");
		return false;
	}
	if (!json_is_null(get(contract, "tty"))) {
		verdict_add(v, VERDICT_NOT_RECOMPUTABLE, "it was run on a terminal");
		return false;
	}
	add(w, mem_strdup("sandglass"));
	add(w, mem_strdup("run"));
	add(w, mem_strdup("--json"));
	add(w, mem_strdup("--digest-inputs"));
	add_option(w, "epoch", epoch % 1000000000 ? time : NULL);
	if (epoch % 1000000000 == 0)
		add(w, str_format("--epoch=%" PRId64, (int64_t)(epoch / 1000000000)));
	add_number(w, "clock-step-ns", get(get(contract, "clock"), "step_ns"));
	add_number(w, "memory", get(get(contract, "limits"), "memory_bytes"));
	add_number(w, "pids", get(get(contract, "limits"), "pids"));
	add_option(w, "workdir", text_of(contract, "workdir"));
	add_option(w, "workflow-id", text_of(contract, "workflow_id"));
	add_sched(w, get(contract, "sched"));
	add_inputs(w, in);
	add_image(w, contract);
	if (!add_list(w, "env", get(contract, "env"))) {
		verdict_add(v, VERDICT_NOT_RECOMPUTABLE, "its environment is no text");
		return false;
	}
	add(w, mem_strdup("--"));
	if (!add_list(w, NULL, get(contract, "argv"))) {
		verdict_add(v, VERDICT_NOT_RECOMPUTABLE, "its command is no text");
		return false;
	}
	return true;
}

/* Standard input as the contract has it; -1 in *ret when it cannot be had. */
static int open_stdin(const json_t *contract, const struct recompute_inputs *in, int *ret,
	struct verdict *v, struct error *err)
{
	const char *kind = text_of(get(contract, "stdin"), "kind");
	const char *path = "/dev/null";

	*ret = -1;
	if (!kind || strcmp(kind, "stream") == 0) {
		verdict_add(v, VERDICT_NOT_RECOMPUTABLE, "its standard input was a stream");
		return 0;
	}
	if (strcmp(kind, "file") == 0)
		path = in->in;
	if (!path) {
		verdict_add(v, VERDICT_NOT_RECOMPUTABLE,
			"its standard input was a file: --stdin names it");
		return 0;
	}
	*ret = open(path, O_RDONLY | O_CLOEXEC);
	return *ret < 0 ? error_sys(err, "--stdin '%.300s'", path) : 0;
}

static int start(
	const struct words *w, const char *cwd, int in, int log, pid_t *ret, struct error *err)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	pid_t parent = getpid();
	pid_t pid = null < 0 ? -1 : fork();

	if (pid == 0) {
		/* Who kills the check ends what it started, which may have no end of its own. */
		if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent ||
			(cwd && chdir(cwd) < 0) || dup2(in, STDIN_FILENO) < 0 ||
			dup2(null, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
			_exit(125);
		execv("/proc/self/exe", w->items);
		_exit(125);
	}
	fd_close(&null);
	if (pid < 0)
		return error_sys(err, "start a run");
	*ret = pid;
	return 0;
}

/* The last line of what was said is the report. */
static int read_report(int log, json_t **ret, char **ret_said, struct error *err)
{
	autofree char *text = NULL;
	char *line;
	size_t len;

	if (lseek(log, 0, SEEK_SET) < 0)
		return error_sys(err, "rewind");
	if (fd_slurp(log, REPORT_MAX, &text, &len, err) < 0)
		return -1;
	while (len > 0 && text[len - 1] == '\n')
		text[--len] = '\0';
	line = memrchr(text, '\n', len);
	line = line ? line + 1 : text;
	*ret_said = mem_strdup(line);
	if (line[0] == '{' && json_read(line, strlen(line), REPORT_MAX, ret, NULL) < 0)
		*ret = NULL;
	return 0;
}

/* The members of the two contracts that differ. */
static void tell_contract(const json_t *was, const json_t *is, struct verdict *v)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)was, key, value)
	{
		autofree char *a = NULL, *b = NULL;
		const json_t *now = get(is, key);

		if (now && json_equal(value, now))
			continue;
		a = json_text(value);
		b = now ? json_text(now) : mem_strdup("absent");
		verdict_add(v, VERDICT_NOT_RECOMPUTABLE,
			"'%s' of the contract was %.300s, is %.300s", key, a, b);
	}
}

int cli_recompute(const json_t *statement, const struct recompute_inputs *in, struct verdict *v,
	struct error *err)
{
	auto_json json_t *contract = receipt_contract(statement);
	struct words CLEANUP(words_finish) line = {0};
	auto_json json_t *report = NULL;
	autofree char *said = NULL;
	autoclose int input = -1, log = -1;
	/* A directory of an image is not one of this host. */
	const char *cwd = is_image(contract) ? NULL : text_of(get(contract, "cwd"), "path");
	int status;
	pid_t pid;

	if (!make_line(&line, contract, in, v))
		return 0;
	if (open_stdin(contract, in, &input, v, err) < 0)
		return -1;
	if (input < 0)
		return 0;
	if (cwd && access(cwd, X_OK) < 0) {
		verdict_add(v, VERDICT_NOT_RECOMPUTABLE, "its directory '%s': %s", cwd,
			strerror(errno));
		return 0;
	}
	if (temp_open(&log, err) < 0 || start(&line, cwd, input, log, &pid, err) < 0)
		return -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_sys(err, "wait for the run");
	if (read_report(log, &report, &said, err) < 0)
		return -1;
	if (!report || !json_is_object(get(report, "contract"))) {
		verdict_add(v, VERDICT_NOT_RECOMPUTABLE, "%s", said);
		return 0;
	}
	if (strcmp(text_of(report, "contract_digest"), text_of(statement, "contract_digest")) != 0)
		tell_contract(contract, get(report, "contract"), v);
	else
		receipt_compare(statement, report, v);
	return 0;
}
