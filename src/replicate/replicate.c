/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One replication from manifest to record: see replicate.h.
 *
 * How it works. What the operator gave is checked first, and is his fault. Then the inputs are held
 * against the manifest, all of them, whatever is wrong with the first. Only when they are right is
 * the entrypoint run; how it ended, what it left and the numbers in results.json are findings, and
 * the worst kind of finding is the outcome.
 */
#include "replicate/replicate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/path.h"
#include "base/str.h"
#include "replicate/hardware.h"
#include "replicate/joblog.h"
#include "replicate/output.h"
#include "replicate/record.h"
#include "replicate/runtime.h"

enum { OUTPUTS_ENTRIES_MAX = 16 };

struct work {
	const struct replicate_options *o;
	struct claim claim;
	struct findings findings;
	struct isolation isolation;
	struct joblog log;
	const struct runtime *runtime;
	char *code, *data, *out; /* real paths */
	int out_fd;
	unsigned repeat;
	char image[DIGEST_TEXT]; /* of the reference */
	json_t *found_code, *found_data, *runs, *targets;
	struct results *results; /* of each run */
};

static void work_finish(struct work *w)
{
	for (unsigned i = 0; w->results && i < w->repeat; i++)
		results_finish(&w->results[i]);
	free(w->results);
	claim_finish(&w->claim);
	findings_finish(&w->findings);
	isolation_finish(&w->isolation);
	joblog_close(&w->log);
	free(w->code);
	free(w->data);
	free(w->out);
	fd_close(&w->out_fd);
	json_decref(w->found_code);
	json_decref(w->found_data);
	json_decref(w->runs);
	json_decref(w->targets);
}

void replication_finish(struct replication *r)
{
	json_decref(r->record);
	free(r->command);
	*r = (struct replication){0};
}

static int read_manifest(struct work *w, struct violations *faults, struct error *err)
{
	autoclose int fd = open(w->o->manifest, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	autofree char *text = NULL;
	size_t len;

	if (fd < 0)
		return error_sys(err, "open the manifest '%.300s'", w->o->manifest);
	if (fd_slurp(fd, CLAIM_TEXT_MAX, &text, &len, err) < 0 ||
		claim_parse(text, len, &w->claim, faults, err) < 0)
		return error_wrap(err, "manifest '%.200s'", w->o->manifest);
	return 0;
}

static int real_dir(const char *option, const char *path, char **ret, struct error *err)
{
	struct stat st;

	*ret = realpath(path, NULL);
	if (!*ret || stat(*ret, &st) < 0)
		return error_sys(err, "--%s '%.300s'", option, path);
	if (!S_ISDIR(st.st_mode))
		return error_set(err, ERR_USAGE, "--%s '%.300s' is no directory", option, path);
	return 0;
}

/* A digest alone says which image is meant: a tag can move. */
static int read_image(struct work *w, struct error *err)
{
	const char *at = strrchr(w->o->image, '@');
	autofree char *safe = str_printable(w->o->image, strlen(w->o->image), 200);

	if (!at || at == w->o->image || strlen(at + 1) != DIGEST_TEXT - 1 ||
		!str_has_prefix(at + 1, "sha256:") ||
		strspn(at + 8, "0123456789abcdef") != DIGEST_HEX - 1)
		return error_set(err, ERR_USAGE,
			"--image '%s' is not pinned: a tag can move; give NAME@sha256: and the 64 "
			"digits",
			safe);
	memcpy(w->image, at + 1, DIGEST_TEXT);
	return 0;
}

static bool overlap(const char *a, const char *b)
{
	return path_is_in(a, b) || path_is_in(b, a);
}

/* A file of ours inside what is verified, or in the output, would change it. */
static int check_place(
	const struct work *w, const char *option, const char *path, struct error *err)
{
	autofree char *copy = path ? mem_strdup(path) : NULL, *real = NULL;
	char *slash = copy ? strrchr(copy, '/') : NULL;

	if (!path || strcmp(path, "-") == 0)
		return 0;
	if (slash)
		*slash = '\0';
	real = realpath(!slash ? "." : copy[0] ? copy : "/", NULL);
	if (!real)
		return error_sys(err, "--%s '%.300s'", option, path);
	if (path_is_in(real, w->code) || path_is_in(real, w->data) || path_is_in(real, w->out))
		return error_set(err, ERR_USAGE,
			"--%s '%.200s' lies in the code, the data or the output; name a place "
			"outside",
			option, path);
	return 0;
}

static int open_dirs(struct work *w, struct error *err)
{
	auto_names struct beneath_names names = {0};
	const struct replicate_options *o = w->o;

	if (real_dir("code-dir", o->code, &w->code, err) < 0 ||
		real_dir("data-dir", o->data, &w->data, err) < 0 ||
		real_dir("out-dir", o->out, &w->out, err) < 0)
		return -1;
	if (overlap(w->out, w->code) || overlap(w->out, w->data))
		return error_set(err, ERR_USAGE,
			"--out-dir '%.200s' and an input lie in each other; name a directory apart "
			"from "
			"both",
			o->out);
	w->out_fd = open(w->out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->out_fd < 0)
		return error_sys(err, "--out-dir '%.300s'", o->out);
	if (beneath_list(w->out_fd, OUTPUTS_ENTRIES_MAX, &names, err) < 0 && err->code != ERR_LIMIT)
		return error_wrap(err, "--out-dir");
	if (names.count > 0 || err->code == ERR_LIMIT)
		return error_set(err, ERR_USAGE, "--out-dir '%.300s' has to be empty", o->out);
	if (check_place(w, "record", o->record, err) < 0)
		return -1;
	return check_place(w, "log-file", o->log, err);
}

static int log_findings(struct work *w, const char *event, size_t before, struct error *err)
{
	json_t *o = json_object(), *list = json_array();

	for (size_t i = before; i < json_array_size(w->findings.list); i++)
		json_add(list, json_incref(json_array_get(w->findings.list, i)));
	json_put(o, "findings", list);
	return joblog_add(&w->log, event, o, err);
}

static int check_inputs(struct work *w, struct error *err)
{
	autoclose int dir = open(w->data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t before = 0;

	if (dir < 0)
		return error_sys(err, "--data-dir '%.300s'", w->o->data);
	if (strcmp(w->image, w->claim.image) != 0)
		findings_add(&w->findings, FINDING_IMAGE_DIGEST, 0, "%s, claimed %s", w->image,
			w->claim.image);
	if (log_findings(w, "image_checked", before, err) < 0)
		return -1;
	before = json_array_size(w->findings.list);
	if (inputs_code(w->code, &w->claim, &w->findings, &w->found_code, err) < 0 ||
		log_findings(w, "code_checked", before, err) < 0)
		return -1;
	before = json_array_size(w->findings.list);
	if (inputs_data(dir, &w->claim, w->o->allows_extra_data, w->o->progress, &w->findings,
		    &w->found_data, err) < 0)
		return -1;
	return log_findings(w, "data_checked", before, err);
}

/* The checkout is the commit's; whether it has the directory is the manifest's word. */
static void check_working_dir(struct work *w)
{
	autoclose int code = open(w->code, O_RDONLY | O_DIRECTORY | O_CLOEXEC), dir = -1;

	if (!w->claim.working_dir || code < 0)
		return;
	dir = beneath_open(code, w->claim.working_dir, O_RDONLY | O_DIRECTORY, 0);
	if (dir < 0)
		findings_add(&w->findings, FINDING_NOT_STARTED, 0,
			"the code has no directory '%s' (working_dir)", w->claim.working_dir);
}

static void judge_end(struct work *w, const struct execution *e, unsigned run)
{
	struct findings *f = &w->findings;
	const char *colon = e->detail[0] ? ": " : "";

	switch (e->end) {
	case END_EXITED:
		if (e->code)
			findings_add(
				f, FINDING_EXITED, run, "status %d%s%s", e->code, colon, e->detail);
		break;
	case END_SIGNALLED:
		findings_add(
			f, FINDING_SIGNALLED, run, "signal %d%s%s", e->signal, colon, e->detail);
		break;
	case END_OOM:
		findings_add(f, FINDING_OUT_OF_MEMORY, run, "more than %llu bytes",
			(unsigned long long)w->claim.limits.memory_bytes);
		break;
	case END_TIMED_OUT:
		findings_add(f, FINDING_TIMED_OUT, run, "after %llu s",
			(unsigned long long)(w->claim.limits.timeout_ns / NUM_SECOND_NS));
		break;
	case END_NOT_STARTED:
		findings_add(f, FINDING_NOT_STARTED, run, "%s", e->detail);
		break;
	case END_DEADLOCKED:
		findings_add(f, FINDING_DEADLOCKED, run, "%s", e->detail);
		break;
	}
}

static void read_results(struct work *w, int output, unsigned run)
{
	struct error why = {0};

	if (results_read(output, &w->results[run - 1], &why) == 0)
		return;
	findings_add(&w->findings,
		why.code == ERR_MISSING ? FINDING_RESULTS_MISSING
		: why.code == ERR_LIMIT ? FINDING_RESULTS_TOO_LARGE
					: FINDING_RESULTS_MALFORMED,
		run, "%s", why.code == ERR_MISSING ? RESULTS_NAME : why.msg);
}

/* Several runs have a directory each. */
static int open_output(
	const struct work *w, unsigned run, int *ret, char **ret_path, struct error *err)
{
	char name[32];

	snprintf(name, sizeof(name), "run-%u", run);
	*ret_path = w->repeat > 1 ? path_join(w->out, name) : mem_strdup(w->out);
	if (w->repeat > 1 && mkdirat(w->out_fd, name, 0755) < 0)
		return error_sys(err, "make '%s' in the output directory", name);
	*ret = w->repeat > 1
		       ? openat(w->out_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
		       : fcntl(w->out_fd, F_DUPFD_CLOEXEC, 3);
	return *ret < 0 ? error_sys(err, "open the output directory") : 0;
}

static int log_run(
	struct work *w, unsigned run, const json_t *object, size_t before, struct error *err)
{
	json_t *o = json_object();

	json_put(o, "run", json_u64(run));
	json_put(o, "end", json_incref(json_object_get(object, "end")));
	json_put(o, "stdout", json_incref(json_object_get(object, "stdout")));
	json_put(o, "stderr", json_incref(json_object_get(object, "stderr")));
	if (joblog_add(&w->log, "run_ended", o, err) < 0)
		return -1;
	return log_findings(w, "output_checked", before, err);
}

static int run_once(struct work *w, struct job *j, unsigned run, struct error *err)
{
	auto_execution struct execution e = {.output = -1};
	auto_json json_t *outputs = NULL, *object = NULL;
	size_t before = json_array_size(w->findings.list);
	autofree char *path = NULL;
	autoclose int out = -1;
	json_t *start = json_object();

	json_put(start, "run", json_u64(run));
	if (joblog_add(&w->log, "run_started", start, err) < 0 ||
		open_output(w, run, &out, &path, err) < 0)
		return -1;
	j->out = path;
	j->out_fd = out;
	if (w->runtime->run(j, &w->isolation, &e, err) < 0)
		return -1;
	judge_end(w, &e, run);
	if (output_take(e.output, e.output_is_out ? -1 : out, &w->claim.limits, run, &w->findings,
		    &outputs, err) < 0)
		return -1;
	if (e.end == END_EXITED && e.code == 0)
		read_results(w, e.output, run);
	object = record_run(&e, outputs, &w->results[run - 1]);
	json_add(w->runs, json_incref(object));
	return log_run(w, run, object, before, err);
}

static int run_all(struct work *w, struct job *j, struct error *err)
{
	w->results = mem_array(w->repeat, sizeof(*w->results));
	for (unsigned run = 1; run <= w->repeat; run++)
		if (run_once(w, j, run, err) < 0)
			return -1;
	/* Without all of the results nothing is said of the targets. */
	if (w->findings.worst != FINDINGS)
		return 0;
	w->targets = record_targets(&w->claim, w->results, w->repeat, &w->findings);
	if (w->findings.worst == FINDINGS)
		findings_add(&w->findings, FINDING_ALL_WITHIN, 0, "%zu of %zu",
			w->claim.target_count, w->claim.target_count);
	return 0;
}

static int conclude(struct work *w, struct replication *ret, struct error *err)
{
	struct record r = {.claim = &w->claim,
		.version = w->o->version,
		.job_id = w->o->job_id,
		.image = w->o->image,
		.runtime = w->runtime->name,
		.isolation = &w->isolation,
		.is_deterministic = w->o->is_deterministic,
		.allows_extra_data = w->o->allows_extra_data,
		.repeat = w->repeat,
		.code = w->found_code,
		.data = w->found_data,
		.runs = w->runs,
		.targets = w->targets,
		.findings = &w->findings};
	json_t *o = json_object();

	ret->outcome = finding_outcome(w->findings.worst);
	snprintf(ret->reason, sizeof(ret->reason), "%s: %s (%s)", finding_code(w->findings.worst),
		finding_meaning(w->findings.worst), w->findings.detail);
	ret->record = record_json(&r);
	json_put(o, "outcome", json_str(outcome_names[ret->outcome]));
	json_put(o, "reason", json_incref(json_object_get(ret->record, "reason")));
	return joblog_add(&w->log, "ended", o, err);
}

static int begin(struct work *w, struct violations *faults, struct error *err)
{
	const struct replicate_options *o = w->o;
	json_t *start = json_object();

	w->repeat = o->repeat ? (unsigned)o->repeat : 1;
	findings_init(&w->findings);
	w->runs = json_array();
	w->out_fd = w->log.fd = -1;
	if (o->repeat > REPLICATE_REPEAT_MAX) {
		json_decref(start);
		return error_set(err, ERR_USAGE, "--repeat: at most %d", REPLICATE_REPEAT_MAX);
	}
	if (runtime_find(o->runtime ? o->runtime : "native", &w->runtime, err) < 0 ||
		read_image(w, err) < 0 || read_manifest(w, faults, err) < 0 ||
		open_dirs(w, err) < 0 || joblog_open(&w->log, o->log, o->job_id, err) < 0) {
		json_decref(start);
		return -1;
	}
	json_put(start, "claim", json_str(w->claim.id));
	json_put(start, "manifest_sha256", json_str(w->claim.digest));
	json_put(start, "runtime", json_str(w->runtime->name));
	json_put(start, "repeat", json_u64(w->repeat));
	json_put(start, "deterministic", json_boolean(o->is_deterministic));
	return joblog_add(&w->log, "started", start, err);
}

static int execute(struct work *w, struct job *job, struct replication *ret, struct error *err)
{
	if (hardware_check(&w->claim, err) < 0 ||
		w->runtime->prepare(job, &w->isolation, err) < 0 || check_inputs(w, err) < 0)
		return -1;
	if (w->findings.worst == FINDINGS)
		check_working_dir(w);
	if (w->findings.worst == FINDINGS && w->o->is_dry) {
		ret->command = w->runtime->command(job);
		return 0;
	}
	if (w->findings.worst == FINDINGS && run_all(w, job, err) < 0)
		return -1;
	return conclude(w, ret, err);
}

/* What goes with some runtimes alone. */
static int check_options(const struct work *w, struct error *err)
{
	const struct replicate_options *o = w->o;

	if (o->is_deterministic && !w->runtime->can_hold)
		return error_set(err, ERR_USAGE,
			"--deterministic: only --runtime native holds clock, randomness and order");
	if ((o->rootfs || o->has_host_programs) && w->runtime->dialect)
		return error_set(err, ERR_USAGE,
			"--rootfs and --host-programs are for --runtime native; this one has "
			"images");
	if (o->rootfs && o->has_host_programs)
		return error_set(err, ERR_USAGE, "either --rootfs or --host-programs");
	return 0;
}

int replicate(const struct replicate_options *o, struct replication *ret,
	struct violations *violations, struct error *err)
{
	struct work CLEANUP(work_finish) w = {.o = o, .out_fd = -1, .log = {.fd = -1}};
	autofree char *rootfs = NULL;
	struct job job;
	int r;

	if (begin(&w, violations, err) < 0 || check_options(&w, err) < 0 ||
		(o->rootfs && real_dir("rootfs", o->rootfs, &rootfs, err) < 0))
		return -1;
	job = (struct job){.claim = &w.claim,
		.code = w.code,
		.data = w.data,
		.out = w.out,
		.out_fd = w.out_fd,
		.image = o->image,
		.rootfs = rootfs,
		.has_host_programs = o->has_host_programs,
		.is_deterministic = o->is_deterministic,
		.runtime = w.runtime};
	r = execute(&w, &job, ret, err);
	if (w.runtime->release)
		w.runtime->release(&job);
	return r;
}
