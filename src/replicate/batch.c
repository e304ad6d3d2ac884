/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: see batch.h. */
#include "replicate/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attest/verdict.h"
#include "base/beneath.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/remove.h"
#include "base/str.h"
#include "base/temp.h"
#include "codec/json.h"
#include "crypto/digest.h"
#include "replicate/claim.h"
#include "replicate/record.h"

enum { IMAGE_MAX = 1024, RECORD_MAX = 64 << 20, SAID_MAX = 64 * 1024, FIXED_WORDS = 20 };

struct slot {
	pid_t pid; /* 0: free */
	struct batch_job *job;
	int said; /* its standard error */
};

void batch_finish(struct batch *b)
{
	for (size_t i = 0; i < b->count; i++)
		free(b->jobs[i].name);
	free(b->jobs);
	*b = (struct batch){0};
}

static int slurp(const char *path, size_t max, char **ret, size_t *ret_len, struct error *err)
{
	autoclose int fd = fd_open_file(path);

	if (fd < 0)
		return error_sys(err, "open '%.300s'", path);
	return fd_slurp(fd, max, ret, ret_len, err);
}

/* The statement of a signed record, or the record. */
static const json_t *statement_of(const json_t *file)
{
	const json_t *inner = json_object_get(file, "statement");

	return inner ? inner : file;
}

/* Anybody may have written it; what is not even true to itself is run again. */
static bool is_record(const json_t *statement)
{
	struct verdict CLEANUP(verdict_finish) v;

	verdict_init(&v);
	record_check(statement, &v);
	return v.worst != VERDICT_FAILED;
}

/* True when the job's record is whole and is of the manifest as it is now. */
static bool take_record(const char *dir, struct batch_job *j)
{
	autofree char *path = path_join(dir, "record.json"),
		      *manifest = path_join(dir, "manifest.json");
	autofree char *text = NULL, *claim = NULL;
	auto_json json_t *file = NULL;
	const json_t *s, *reason;
	char digest[DIGEST_TEXT];
	const char *of, *outcome, *code, *detail;
	size_t len, claim_len;

	if (slurp(path, RECORD_MAX, &text, &len, NULL) < 0 ||
		json_read(text, len, RECORD_MAX, &file, NULL) < 0 ||
		slurp(manifest, CLAIM_TEXT_MAX, &claim, &claim_len, NULL) < 0)
		return false;
	digest_of(claim, claim_len, digest);
	s = statement_of(file);
	of = json_string_value(json_object_get(json_object_get(s, "claim"), "manifest_sha256"));
	outcome = json_string_value(json_object_get(s, "outcome"));
	reason = json_object_get(s, "reason");
	code = json_string_value(json_object_get(reason, "code"));
	detail = json_string_value(json_object_get(reason, "detail"));
	if (!of || strcmp(of, digest) != 0 || !outcome || !code || !detail || !is_record(s))
		return false;
	for (j->outcome = 0; j->outcome < OUTCOMES; j->outcome++)
		if (strcmp(outcome, outcome_names[j->outcome]) == 0)
			break;
	snprintf(j->detail, sizeof(j->detail), "%s: %.200s", code, detail);
	return j->outcome < OUTCOMES;
}

static int list_jobs(const char *dir, struct batch *b, struct error *err)
{
	autoclose int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_names struct beneath_names names = {0};

	if (fd < 0)
		return error_sys(err, "open '%.300s'", dir);
	if (beneath_list(fd, BATCH_SIZE_MAX, &names, err) < 0)
		return error_wrap(err, "'%.200s'", dir);
	b->jobs = mem_array(names.count, sizeof(*b->jobs));
	for (size_t i = 0; i < names.count; i++) {
		autofree char *manifest = str_format("%s/manifest.json", names.items[i]);
		struct stat st;

		if (fstatat(fd, manifest, &st, 0) == 0)
			b->jobs[b->count++].name = mem_strdup(names.items[i]);
	}
	if (b->count == 0)
		return error_set(err, ERR_MISSING,
			"'%.200s' holds no claim: a directory NAME with manifest.json, code, data "
			"and image",
			dir);
	return 0;
}

/* An empty out/; what is in it is of a batch that was killed. */
static int make_out(const char *out, struct error *err)
{
	autoclose int fd = -1;

	if (mkdir(out, 0755) < 0 && errno != EEXIST)
		return error_sys(err, "make '%.300s'", out);
	fd = open(out, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, "open '%.300s'", out);
	return remove_contents(fd, err);
}

static void exec_job(const char *const *words, int said, pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	sigemptyset(&none);
	if (null < 0 || sigprocmask(SIG_SETMASK, &none, NULL) < 0 ||
		prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent || dup2(null, 0) < 0 ||
		dup2(null, 1) < 0 || dup2(said, 2) < 0)
		_exit(2);
	execv("/proc/self/exe", (char *const *)(uintptr_t)words);
	_exit(2);
}

static int start_job(const struct batch_options *o, const char *dir, struct batch_job *j,
	struct slot *s, struct error *err)
{
	autofree char *manifest = path_join(dir, "manifest.json"), *code = path_join(dir, "code"),
		      *data = path_join(dir, "data"), *out = path_join(dir, "out"),
		      *record = path_join(dir, "record.json"), *log = path_join(dir, "log.jsonl"),
		      *image_file = path_join(dir, "image"), *image = NULL;
	autofree const char **words = NULL;
	size_t len, count = 0, n = 0;
	pid_t parent = getpid();

	if (slurp(image_file, IMAGE_MAX, &image, &len, err) < 0 || make_out(out, err) < 0)
		return -1;
	image[strcspn(image, "\r\n")] = '\0';
	while (o->options[count])
		count++;
	words = mem_array(count + FIXED_WORDS, sizeof(*words));
	const char *const fixed[] = {"sandglass", "replicate", manifest, "--code-dir", code,
		"--data-dir", data, "--out-dir", out, "--image", image, "--job-id", j->name,
		"--record", record, "--log-file", log};

	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		words[n++] = fixed[i];
	for (size_t i = 0; i < count; i++)
		words[n++] = o->options[i];
	if (temp_open(&s->said, err) < 0)
		return -1;
	s->pid = fork();
	if (s->pid == 0)
		exec_job(words, s->said, parent);
	if (s->pid < 0) {
		s->pid = 0;
		fd_close(&s->said);
		return error_sys(err, "start a replication");
	}
	s->job = j;
	return 0;
}

static void fail(struct batch_job *j, const char *why)
{
	j->has_failed = true;
	snprintf(j->detail, sizeof(j->detail), "%.250s", why);
}

/* The last line that a job without a record has said. */
static void take_said(struct slot *s)
{
	autofree char *text = NULL, *safe = NULL;
	char *line;
	size_t len;

	if (lseek(s->said, 0, SEEK_SET) < 0 || fd_slurp(s->said, SAID_MAX, &text, &len, NULL) < 0) {
		fail(s->job, "it failed");
		return;
	}
	while (len > 0 && text[len - 1] == '\n')
		text[--len] = '\0';
	line = memrchr(text, '\n', len);
	line = line ? line + 1 : text;
	safe = str_printable(line, strlen(line), 200);
	fail(s->job, str_has_prefix(safe, "sandglass: ") ? safe + strlen("sandglass: ") : safe);
}

static void end_job(const struct batch_options *o, struct slot *s, int status)
{
	autofree char *dir = path_join(o->dir, s->job->name);
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : 2;

	if (code > 1 || !take_record(dir, s->job))
		take_said(s);
	fd_close(&s->said);
	s->pid = 0;
	if (o->told)
		o->told(s->job);
}

static struct slot *find_slot(struct slot *slots, unsigned count, pid_t pid)
{
	for (unsigned i = 0; i < count; i++)
		if (slots[i].pid == pid)
			return &slots[i];
	return NULL;
}

/* The next claim without a record is started in the slot. */
static void fill_slot(const struct batch_options *o, struct batch *b, size_t *next, struct slot *s)
{
	while (*next < b->count && !s->pid) {
		struct batch_job *j = &b->jobs[(*next)++];
		autofree char *dir = path_join(o->dir, j->name);
		struct error why = {0};

		j->was_done = take_record(dir, j);
		if (!j->was_done && start_job(o, dir, j, s, &why) == 0)
			return;
		if (!j->was_done)
			fail(j, why.msg);
		if (o->told)
			o->told(j);
	}
}

int batch_run(const struct batch_options *o, struct batch *ret, struct error *err)
{
	auto_batch struct batch b = {0};
	autofree struct slot *slots = mem_array(o->jobs, sizeof(*slots));
	size_t next = 0;

	if (list_jobs(o->dir, &b, err) < 0)
		return -1;
	for (unsigned i = 0; i < o->jobs; i++)
		slots[i].said = -1;
	for (;;) {
		bool is_busy = false;
		int status;
		pid_t pid;

		for (unsigned i = 0; i < o->jobs; i++) {
			if (!slots[i].pid)
				fill_slot(o, &b, &next, &slots[i]);
			is_busy = is_busy || slots[i].pid;
		}
		if (!is_busy)
			break;
		pid = waitpid(-1, &status, 0);
		if (pid < 0 && errno != EINTR)
			return error_sys(err, "wait for the replications");
		struct slot *s = pid > 0 ? find_slot(slots, o->jobs, pid) : NULL;

		if (s)
			end_job(o, s, status);
	}
	*ret = b;
	b = (struct batch){0};
	return 0;
}
