/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entrypoint in our own container, without any daemon: see runtime.h.
 *
 * How it works. The container is that of `sandglass run`. Its contract shows code, data and output
 * where the analysis expects them. As root the output is a file system of its own, in memory and
 * bounded in bytes and files, mounted over the output directory in a mount namespace that this
 * process alone has: whatever becomes of us, nothing of it stays. What it holds is taken over when
 * everything inside is dead. Without privileges it is the directory itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/signals.h"
#include "base/str.h"
#include "base/temp.h"
#include "config/supervisor.h"
#include "crypto/digest.h"
#include "image/image.h"
#include "launch/idmap.h"
#include "replicate/bounded.h"
#include "replicate/runtime.h"
#include "run/inputs.h"
#include "run/one.h"
#include "wire/environment.h"

enum { RLIMIT_FSIZE_NUMBER = 1, RLIMIT_DATA_NUMBER = 2, RLIMIT_NPROC_NUMBER = 6, SAID_MAX = 160 };

static const char workflow_id[] = "replicate";

static int add_bind(struct contract *c, const char *from, const char *to, bool writable)
{
	c->binds[c->bind_count++] = (struct contract_bind){
		.source = mem_strdup(from), .dest = mem_strdup(to), .writable = writable};
	return 0;
}

static void set_limits(struct contract *c, const struct claim_limits *l, bool bounds_files)
{
	c->memory_bytes = l->memory_bytes;
	c->pids = (uint32_t)l->pids;
	c->tmp_bytes = l->tmp_bytes;
	c->tmp_inodes = l->tmp_files;
	c->rlimits[RLIMIT_DATA_NUMBER] = (struct contract_rlimit){c->memory_bytes, c->memory_bytes};
	c->rlimits[RLIMIT_NPROC_NUMBER] = (struct contract_rlimit){c->pids, c->pids};
	if (bounds_files)
		c->rlimits[RLIMIT_FSIZE_NUMBER] =
			(struct contract_rlimit){l->output_bytes, l->output_bytes};
}

/* The image of the store, in use: nobody removes it meanwhile. */
struct held {
	struct images *store;
	struct image image;
};

static void release(struct job *j)
{
	if (!j->held)
		return;
	image_finish(&j->held->image);
	images_close(j->held->store);
	free(j->held);
	j->held = NULL;
}

static int hold_image(struct job *j, struct error *err)
{
	auto_image_ref struct image_ref ref = {0};

	j->held = mem_alloc(sizeof(*j->held));
	j->held->image.lock = -1;
	if (image_ref_parse(j->image, &ref, err) < 0)
		return error_wrap(err, "--image");
	if (images_open(CAS_WRITE, &j->held->store, err) < 0 ||
		image_find(j->held->store, &ref, &j->held->image, err) < 0)
		return error_wrap(err, "--image (or give --rootfs DIR or --host-programs)");
	if (image_use(j->held->store, &j->held->image, NULL, err) < 0)
		return error_wrap(err, "--image");
	return 0;
}

static const char *root_of(const struct job *j)
{
	return j->rootfs ? j->rootfs : j->held ? j->held->image.root : NULL;
}

static size_t count_of(char *const *list)
{
	size_t count = 0;

	while (list && list[count])
		count++;
	return count;
}

/* The image's variables, then those of the claim, which may replace them. */
static int add_environment(const struct job *j, struct contract *c, struct error *err)
{
	char **env = job_environment(j), **own = j->held ? j->held->image.config.env : NULL;
	int r;

	environment_init(c);
	r = environment_add(c, (const char *const *)own, count_of(own), "image: env", err);
	if (r == 0)
		r = environment_add(c, (const char *const *)env, count_of(env), "environment", err);
	job_environment_free(env);
	return r;
}

static int build_contract(const struct job *j, struct contract *c, struct error *err)
{
	const char *root = root_of(j);

	contract_init(c);
	c->deterministic = j->is_deterministic;
	c->stdin_kind = CONTRACT_STDIN_EMPTY;
	c->workflow_id = mem_strdup(workflow_id);
	digest_hkdf(workflow_id, strlen(workflow_id), "sandglass/entropy/v1", c->entropy_key,
		sizeof(c->entropy_key));
	c->uid = c->gid = JOB_UID;
	set_limits(c, &j->claim->limits, geteuid() != 0);
	c->rootfs = root ? mem_strdup(root) : NULL;
	c->workdir = job_directory(j);
	c->argv = mem_array(4, sizeof(*c->argv));
	c->argv[0] = mem_strdup("sh");
	c->argv[1] = mem_strdup("-c");
	c->argv[2] = mem_strdup(j->claim->entrypoint);
	c->binds = mem_array(3, sizeof(*c->binds));
	add_bind(c, j->code, JOB_CODE, false);
	add_bind(c, j->data, JOB_DATA, false);
	add_bind(c, j->out, JOB_OUT, true);
	if (add_environment(j, c, err) < 0 || (c->deterministic && inputs_cpu(c->cpu, err) < 0))
		return -1;
	return contract_check(c, err);
}

static int prepare(struct job *j, struct isolation *ret, struct error *err)
{
	auto_contract struct contract c = {0};

	if (j->claim->needs_gpu)
		return error_set(err, ERR_UNSUPPORTED,
			"the claim needs a GPU, which --runtime native does not give");
	if (j->claim->limits.cpus_milli != 1000)
		isolation_degrade(ret, SETTING_CPUS, "one CPU, whatever is asked for");
	if (j->rootfs)
		isolation_degrade(ret, SETTING_IMAGE, "--rootfs: nobody verified the directory");
	else if (j->has_host_programs)
		isolation_degrade(ret, SETTING_IMAGE, "--host-programs: the host's own programs");
	else if (hold_image(j, err) < 0)
		return -1;
	if (geteuid() != 0) {
		isolation_degrade(ret, SETTING_OUTPUT_BYTES,
			"without root each file is bounded, and their sum afterwards alone");
		isolation_degrade(
			ret, SETTING_OUTPUT_FILES, "without root they are counted afterwards");
	}
	return build_contract(j, &c, err);
}

static char *command(const struct job *j)
{
	autofree char *dir = job_directory(j);
	const struct claim_limits *l = &j->claim->limits;

	return str_format("native: sh -c in %s of %s; %s read-only at " JOB_CODE
			  ", %s read-only at " JOB_DATA ", %s at " JOB_OUT
			  "; network none, user %d, memory %llu, pids %llu, time-out %llu s",
		dir, root_of(j) ? root_of(j) : "the host's programs", j->code, j->data, j->out,
		JOB_UID, (unsigned long long)l->memory_bytes, (unsigned long long)l->pids,
		(unsigned long long)(l->timeout_ns / NUM_SECOND_NS));
}

/* The end of what it said on standard error, in one line. */
static void take_said(int spool, struct execution *e)
{
	char text[SAID_MAX];
	off_t end = lseek(spool, 0, SEEK_END);
	ssize_t n = end <= 0 ? 0
			     : pread(spool, text, sizeof(text),
				       end > (off_t)sizeof(text) ? end - (off_t)sizeof(text) : 0);

	execution_take_said(e, text, n > 0 ? (size_t)n : 0);
}

/* As root nobody else has the one place that is writable: bounded.h. */
static bool is_nothing(enum reason r)
{
	return geteuid() == 0 && r == REASON_SHARED_WITH_OUTSIDE;
}

static void take_reasons(const struct notes *n, struct execution *e)
{
	e->reasons = json_array();
	e->is_enforced = true;
	for (int r = 0; r < REASON_COUNT; r++) {
		if (!n->not_enforced[r].count || is_nothing((enum reason)r))
			continue;
		json_add(e->reasons, json_str(reason_info((enum reason)r)->code));
		e->is_enforced = false;
	}
}

/* What the launcher could not do, by the setting that it weakens. */
static void take_degraded(const struct one_result *r, struct isolation *isolation)
{
	static const struct {
		const char *prefix;
		enum setting setting;
	} rows[] = {{"memory:", SETTING_MEMORY}, {"pids:", SETTING_PIDS}, {"cpu:", SETTING_CPUS}};

	for (size_t i = 0; i < r->notes.assumption_count; i++) {
		const char *detail = r->notes.assumptions[i].detail;

		for (size_t k = 0; k < ARRAY_LEN(rows); k++)
			if (r->notes.assumptions[i].reason == REASON_LIMIT_DEGRADED &&
				str_has_prefix(detail, rows[k].prefix))
				isolation_degrade(isolation, rows[k].setting, "%s", detail);
	}
	if (isolation->degraded[SETTING_MEMORY])
		isolation_degrade(isolation, SETTING_SWAP, "no control group bounds memory");
}

static int take_end(const struct one_result *r, struct execution *e, struct error *err)
{
	e->code = r->code;
	e->signal = r->signal;
	switch (r->end) {
	case ONE_GUEST:
		e->end = r->signal ? END_SIGNALLED : END_EXITED;
		if (r->oom && (r->signal || r->code))
			e->end = END_OOM;
		return 0;
	case ONE_TIMEOUT:
		e->end = END_TIMED_OUT;
		return 0;
	case ONE_DEADLOCK:
		e->end = END_DEADLOCKED;
		snprintf(e->detail, sizeof(e->detail), "%.250s", r->deadlock ? r->deadlock : "");
		return 0;
	case ONE_FAILED:
		if (r->failed.code != ERR_NOEXEC && r->failed.code != ERR_NOTFOUND)
			break;
		e->end = END_NOT_STARTED;
		snprintf(e->detail, sizeof(e->detail), "%.250s", r->failed.msg);
		return 0;
	case ONE_STOPPED:
		return error_set(err, ERR_SYSTEM, "interrupted");
	case ONE_DIED:
	case ONE_DIVERGED:
	case ONE_CLOSED:
		break;
	}
	return error_set(err, ERR_SYSTEM, "the container failed: %.400s", r->failed.msg);
}

static void say_nothing(const char *line)
{
	(void)line;
}

static int run_once(
	const struct job *j, struct isolation *isolation, struct execution *e, struct error *err)
{
	auto_contract struct contract c = {0};
	auto_one_result struct one_result result = {0};
	struct stdin_source CLEANUP(stdin_close)
		in = {.kind = CONTRACT_STDIN_EMPTY, .file = -1, .spool = -1};
	auto_decisions struct decisions decisions = {.keep = -1};
	autoclose int supervisor = -1, signals = -1, spool = -1;
	struct one_spec spec = {.contract = &c,
		.cpu = -1,
		.in = &in,
		.timeout_ns = j->claim->limits.timeout_ns,
		.is_quiet = true,
		.is_image = j->held != NULL,
		.spool_out = -1,
		.decisions = &decisions,
		.say = say_nothing};

	if (build_contract(j, &c, err) < 0 || supervisor_open(&supervisor, err) < 0 ||
		signals_open(0, &signals, err) < 0 || temp_open(&spool, err) < 0)
		return -1;
	decisions_init(&decisions);
	spec.supervisor = supervisor;
	spec.signals = signals;
	spec.spool_err = spool;
	if (one_run(&spec, &result, err) < 0)
		return -1;
	if (result.was_interrupted)
		return error_set(err, ERR_SYSTEM, "interrupted");
	take_said(spool, e);
	take_degraded(&result, isolation);
	if (j->is_deterministic)
		take_reasons(&result.notes, e);
	memcpy(e->out, result.out, sizeof(e->out));
	memcpy(e->err, result.err, sizeof(e->err));
	e->out_bytes = result.out_bytes;
	e->err_bytes = result.err_bytes;
	return take_end(&result, e, err);
}

static int run(
	const struct job *j, struct isolation *isolation, struct execution *ret, struct error *err)
{
	auto_execution struct execution e = {.output = -1};
	/* Where this file system cannot be id-mapped (before Linux 6.3) the guest owns it anyway.
	 */
	struct idmap ids = idmap_choose();
	int r;

	if (geteuid() == 0) {
		if (bounded_mount(j, true, ids.uid, ids.gid, &e.output, err) < 0)
			return -1;
	} else {
		e.output_is_out = true;
		e.output = fcntl(j->out_fd, F_DUPFD_CLOEXEC, 3);
		if (e.output < 0)
			return error_sys(err, "the output directory");
	}
	r = run_once(j, isolation, &e, err);
	/* It lives on as long as its descriptor does. */
	if (!e.output_is_out && bounded_unmount(j, r < 0 ? NULL : err) < 0)
		return -1;
	if (r < 0)
		return -1;
	*ret = e;
	e = (struct execution){.output = -1};
	return 0;
}

const struct runtime runtime_native = {
	.name = "native",
	.summary = "our own container; needs no daemon",
	.can_hold = true,
	.prepare = prepare,
	.release = release,
	.command = command,
	.run = run,
};
