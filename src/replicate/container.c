/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entrypoint in a container of docker, podman or nerdctl: see runtime.h.
 *
 * How it works. One `run` with every setting as an option, the client attached; what it says is
 * read and dropped. Killing the client would leave the container running, so a time-out kills that
 * by its name. The container is kept until it was asked how it ended, since 125, 126, 127 and 137
 * may also be the entrypoint's own: then it is removed. A janitor does both when we are killed.
 *
 * The output is a bounded file system that is mounted over the output directory, in the host's own
 * mount namespace, since the daemon has to see it. Root alone can do that.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/fd.h"
#include "base/janitor.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/path.h"
#include "base/random.h"
#include "base/str.h"
#include "config/paths.h"
#include "crypto/digest.h"
#include "oci/client.h"
#include "oci/cmdline.h"
#include "oci/oci.h"
#include "oci/profile.h"
#include "oci/removal.h"
#include "replicate/attached.h"
#include "replicate/bounded.h"
#include "replicate/runtime.h"
#include "run/place.h"

enum { NAME_SIZE = 64, END_TRIES = 50 };

#define NAME_START "sandglass-replicate-"

static void add_all(struct words *out, const char *const *words)
{
	for (; words && *words; words++)
		words_add(out, *words);
}

static void add_pair(struct words *out, const char *option, const char *value)
{
	words_add(out, option);
	words_add(out, value);
}

static void add_bind(struct words *out, const char *source, const char *dest, bool is_writable)
{
	autofree char *src = str_format("source=%s", source), *field = words_field(src);

	words_add(out, "--mount");
	/* Read-only holds for one mount: nothing that is mounted below comes along. */
	words_format(out, "type=bind,%s,target=%s%s", field, dest,
		is_writable ? "" : ",readonly,bind-nonrecursive=true");
}

static int fill(int fd, const void *arg, struct error *err)
{
	const char *text = arg;

	return fd_write_all(fd, text, strlen(text), err);
}

/* Whether the file is there and nobody has put another one in its place. */
static bool holds(const char *path, const char *text)
{
	autoclose int fd = fd_open_file(path);
	autofree char *is = NULL;
	size_t len = 0;

	return fd >= 0 && fd_slurp(fd, strlen(text), &is, &len, NULL) == 0 && len == strlen(text) &&
	       memcmp(is, text, len) == 0;
}

/* The file of the profile, which the client reads; under its digest, so that it is written once. */
static int profile_path(char **ret, struct error *err)
{
	auto_json json_t *profile = profile_json();
	autofree char *text = json_text(profile), *dir = NULL, *path = NULL;
	char digest[DIGEST_TEXT];

	digest_of(text, strlen(text), digest);
	if (paths_find(PATHS_CACHE, &dir, err) < 0 || dir_make(dir, err) < 0)
		return -1;
	path = str_format("%s/seccomp-%.16s.json", dir, digest + strlen("sha256:"));
	if (!holds(path, text) && place_write(path, fill, text, err) < 0)
		return -1;
	*ret = take_ptr(path);
	return 0;
}

static void add_limits(const struct job *j, const struct oci *r, struct words *out)
{
	const struct claim_limits *l = &j->claim->limits;

	words_add(out, "--pids-limit");
	words_format(out, "%" PRIu64, l->pids);
	words_add(out, "--memory");
	words_format(out, "%" PRIu64 "b", l->memory_bytes);
	words_add(out, "--memory-swap");
	words_format(out, "%" PRIu64 "b", l->memory_bytes);
	words_add(out, "--cpus");
	words_format(out, "%" PRIu64 ".%03" PRIu64, l->cpus_milli / 1000, l->cpus_milli % 1000);
	add_pair(out, "--ulimit", "core=0");
	/* podman would ask for more than the host may give. */
	if (r->dialect->wants_limits) {
		add_pair(out, "--ulimit", "nofile=1024:1024");
		add_pair(out, "--ulimit", "nproc=4096:4096");
	}
}

static void add_environment(const struct job *j, struct words *out)
{
	char **env = job_environment(j);

	for (char **one = env; *one; one++)
		add_pair(out, "--env", *one);
	job_environment_free(env);
}

static void build(const struct job *j, const struct oci *r, const char *name, const char *profile,
	const char *image, struct words *out)
{
	const struct claim_limits *l = &j->claim->limits;
	autofree char *dir = job_directory(j);

	add_all(out, (const char *const *)r->program.items);
	add_all(out, (const char *const[]){"run", "--pull", "never", NULL});
	add_all(out, r->dialect->run);
	add_all(out, j->runtime->extra);
	add_pair(out, "--name", name);
	add_all(out, (const char *const[]){"--network", "none", "--read-only", "--tmpfs", NULL});
	words_format(out, "/tmp:rw,nosuid,nodev,exec,mode=1777,size=%" PRIu64 ",nr_inodes=%" PRIu64,
		l->tmp_bytes, l->tmp_files);
	add_all(out, (const char *const[]){"--cap-drop", "ALL", "--security-opt",
			     "no-new-privileges", "--security-opt", NULL});
	words_format(out, "seccomp=%s", profile);
	words_add(out, "--user");
	words_format(out, "%d:%d", JOB_UID, JOB_UID);
	add_limits(j, r, out);
	words_add(out, "--init");
	add_bind(out, j->code, JOB_CODE, false);
	add_bind(out, j->data, JOB_DATA, false);
	add_bind(out, j->out, JOB_OUT, true);
	add_pair(out, "--workdir", dir);
	add_environment(j, out);
	add_pair(out, "--entrypoint", "sh");
	words_add(out, image);
	add_pair(out, "-c", j->claim->entrypoint);
}

/* The image by its reference; an image that was never in a registry has its id alone. */
static int find_image(const struct job *j, const struct oci *r, char **ret, struct error *err)
{
	const char *digest = strrchr(j->image, '@') + 1;
	auto_oci_image struct oci_image image = {.image.lock = -1};

	if (oci_image_find(r, j->image, &image, err) == 0) {
		*ret = mem_strdup(j->image);
		return 0;
	}
	if (err->code != ERR_MISSING || oci_image_find(r, digest, &image, NULL) < 0)
		return -1;
	if (!oci_image_is(&image, digest))
		return error_set(
			err, ERR_MISSING, "--image '%.200s' is another one here", j->image);
	*ret = mem_strdup(digest);
	return 0;
}

static int check_output(const struct job *j, struct isolation *isolation, struct error *err)
{
	struct stat st;

	if (geteuid() == 0)
		return 0;
	isolation_degrade(
		isolation, SETTING_OUTPUT_BYTES, "without root the sum is checked afterwards");
	isolation_degrade(
		isolation, SETTING_OUTPUT_FILES, "without root they are counted afterwards");
	isolation_degrade(
		isolation, SETTING_OUTPUT_FLAGS, "without root the output is no mount of its own");
	if (stat(j->out, &st) < 0)
		return error_sys(err, "--out-dir");
	if (st.st_uid != JOB_UID && !(st.st_mode & S_IWOTH))
		return error_set(err, ERR_USAGE,
			"--out-dir: user %d of the container cannot write there; chmod 1777 it",
			JOB_UID);
	return 0;
}

static int prepare(struct job *j, struct isolation *ret, struct error *err)
{
	auto_oci struct oci r = {0};
	autofree char *image = NULL;

	if (j->claim->needs_gpu)
		return error_set(err, ERR_UNSUPPORTED,
			"the claim needs a GPU, which no runtime gives with these settings");
	if (oci_open(j->runtime->dialect, &r, err) < 0 || find_image(j, &r, &image, err) < 0)
		return -1;
	if (j->runtime->extra)
		isolation_degrade(ret, SETTING_SECCOMP,
			"gVisor answers the calls itself, and has a filter of its own");
	return check_output(j, ret, err);
}

static char *command(const struct job *j)
{
	auto_oci struct oci r = {0};
	autofree char *profile = NULL, *image = NULL;
	auto_words struct words words = {0};
	struct error err = {0};

	if (oci_open(j->runtime->dialect, &r, &err) < 0 || profile_path(&profile, &err) < 0 ||
		find_image(j, &r, &image, &err) < 0)
		return mem_strdup(err.msg);
	build(j, &r, NAME_START "1", profile, image, &words);
	return words_quote(&words);
}

/* As root the output is a mount, which would stay. */
static void unmount_output(const void *out)
{
	if (geteuid() == 0)
		(void)umount2(out, MNT_DETACH);
}

/* How the container ended, by itself. */
struct state {
	int code;
	bool is_oom, has_started, is_running;
	long long memory, swap, pids, cpus;
	char *error;
};

static const char state_format[] =
	"{{.State.ExitCode}} {{.State.OOMKilled}} {{.State.Running}} {{.HostConfig.Memory}} "
	"{{.HostConfig.MemorySwap}} {{.HostConfig.PidsLimit}} {{.HostConfig.NanoCpus}} "
	"{{.State.StartedAt}}|{{.State.Error}}";

static int ask_state(const struct oci *r, const char *name, struct state *ret, struct error *err)
{
	static const char *const words[] = {"container", "inspect", "--format", state_format, NULL};
	auto_words struct words ask = {0};
	autofree char *text = NULL;
	char oom[8] = "", running[8] = "", started[64] = "", pids[24] = "";
	const char *bar;

	cmdline_ask(r, words, name, &ask);
	if (client_ask(ask.items, &text, err) < 0)
		return -1;
	*ret = (struct state){0};
	bar = strchr(text, '|');
	if (!bar || sscanf(text, "%d %7s %7s %lld %lld %23s %lld %63[^|]", &ret->code, oom, running,
			    &ret->memory, &ret->swap, pids, &ret->cpus, started) != 8)
		return error_set(
			err, ERR_FORMAT, "the runtime says '%.200s' of the container", text);
	ret->is_oom = strcmp(oom, "true") == 0;
	ret->is_running = strcmp(running, "true") == 0;
	ret->pids = pids[0] >= '1' && pids[0] <= '9';
	ret->has_started = !str_has_prefix(started, "0001-");
	ret->error = mem_strndup(bar + 1, strcspn(bar + 1, "\n"));
	return 0;
}

static void state_finish(struct state *s)
{
	mem_cleanup(&s->error);
}

/* What the daemon did not take over, having warned of it. */
static void take_degraded(const struct state *s, struct isolation *isolation)
{
	static const char why[] = "the runtime does not apply it on this host";

	if (s->memory <= 0)
		isolation_degrade(isolation, SETTING_MEMORY, "%s", why);
	if (s->memory <= 0 || s->swap != s->memory)
		isolation_degrade(isolation, SETTING_SWAP, "%s", why);
	if (!s->pids)
		isolation_degrade(isolation, SETTING_PIDS, "%s", why);
	if (s->cpus <= 0)
		isolation_degrade(isolation, SETTING_CPUS, "%s", why);
}

/* What the entrypoint could not be started with, in the runtimes' words. */
static bool is_not_started(const struct state *s, const struct attached *a)
{
	static const char *const words[] = {"executable file not found",
		"no such file or directory", "permission denied", "exec format error",
		"not a directory", "cannot find executable"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if ((a->code == 126 || a->code == 127) && strcasestr(s->error, words[i]))
			return true;
	return false;
}

static int take_end(
	const struct state *s, const struct attached *a, struct execution *e, struct error *err)
{
	autofree char *tail = str_printable(a->tail, a->tail_len, ATTACHED_TAIL);

	e->code = s->code;
	if (a->is_timed_out) {
		e->end = END_TIMED_OUT;
		return 0;
	}
	if (s->error[0] && is_not_started(s, a)) {
		autofree char *safe = str_printable(s->error, strlen(s->error), 200);

		e->end = END_NOT_STARTED;
		snprintf(e->detail, sizeof(e->detail), "%.250s", safe);
		return 0;
	}
	if (s->error[0] || !s->has_started)
		return error_set(err, ERR_SYSTEM,
			"the runtime could not start the container: %.300s%.150s", s->error, tail);
	execution_take_said(e, a->tail, a->tail_len);
	e->end = s->is_oom && s->code ? END_OOM : END_EXITED;
	return 0;
}

static void kill_container(const struct oci *r, const char *name)
{
	auto_words struct words words = {0};

	cmdline_ask(r, (const char *const[]){"kill", NULL}, name, &words);
	removal_run(words.items);
}

/* The state of a container that has ended: what still runs has the status 0 of nobody. */
static int ask_end(const struct oci *r, const char *name, bool was_killed, struct state *ret,
	struct error *err)
{
	const struct timespec pause = {.tv_nsec = 100000000};

	for (int i = 0; i < END_TRIES; i++) {
		state_finish(ret);
		if (ask_state(r, name, ret, err) < 0)
			return -1;
		if (!ret->is_running || was_killed)
			return 0;
		nanosleep(&pause, NULL);
	}
	kill_container(r, name);
	return error_set(err, ERR_SYSTEM,
		"the runtime's client has ended, and the container was still running: it was "
		"killed");
}

static int attend(const struct job *j, const struct oci *r, const char *name, char *const *argv,
	struct isolation *isolation, struct execution *e, struct error *err)
{
	struct state CLEANUP(state_finish) state = {0};
	struct attached a;
	struct error why = {0};

	if (attached_run(argv, j->claim->limits.timeout_ns, &a, err) < 0)
		return -1;
	if (a.is_timed_out || a.is_interrupted)
		kill_container(r, name);
	if (a.is_interrupted)
		return error_set(err, ERR_SYSTEM, "interrupted");
	if (ask_end(r, name, a.is_timed_out, &state, &why) < 0) {
		autofree char *tail = str_printable(a.tail, a.tail_len, ATTACHED_TAIL);

		if (state.is_running)
			return error_set(err, why.code, "%s", why.msg);
		return error_set(err, ERR_SYSTEM,
			"the runtime made no container (status %d): %.200s", a.code, tail);
	}
	if (state.has_started)
		take_degraded(&state, isolation);
	memcpy(e->out, a.out, sizeof(e->out));
	memcpy(e->err, a.err, sizeof(e->err));
	e->out_bytes = a.out_bytes;
	e->err_bytes = a.err_bytes;
	return take_end(&state, &a, e, err);
}

static int run_guarded(const struct job *j, const struct oci *r, struct isolation *isolation,
	struct execution *e, struct error *err)
{
	char name[NAME_SIZE] = NAME_START, *end = name + strlen(name);
	auto_words struct words words = {0}, removal = {0};
	autofree char *profile = NULL, *image = NULL;
	const struct removal guard = {&removal, unmount_output, j->out};
	struct janitor janitor;
	int result;

	random_hex(end, 16);
	if (profile_path(&profile, err) < 0 || find_image(j, r, &image, err) < 0)
		return -1;
	build(j, r, name, profile, image, &words);
	cmdline_remove(r, name, &removal);
	if (janitor_start(&janitor, removal_persist, &guard, err) < 0)
		return -1;
	result = attend(j, r, name, words.items, isolation, e, err);
	removal_run(removal.items);
	janitor_finish(&janitor);
	return result;
}

static int run(
	const struct job *j, struct isolation *isolation, struct execution *ret, struct error *err)
{
	auto_execution struct execution e = {.output = -1};
	auto_oci struct oci r = {0};
	int result;

	if (oci_open(j->runtime->dialect, &r, err) < 0)
		return -1;
	if (geteuid() == 0) {
		if (bounded_mount(j, false, JOB_UID, JOB_UID, &e.output, err) < 0)
			return -1;
	} else {
		e.output_is_out = true;
		e.output = fcntl(j->out_fd, F_DUPFD_CLOEXEC, 3);
		if (e.output < 0)
			return error_sys(err, "the output directory");
	}
	result = run_guarded(j, &r, isolation, &e, err);
	if (!e.output_is_out && bounded_unmount(j, result < 0 ? NULL : err) < 0)
		return -1;
	if (result < 0)
		return -1;
	*ret = e;
	e = (struct execution){.output = -1};
	return 0;
}

#define ROW(word, about, words, more) \
	{ \
		.name = (word), .summary = (about), .dialect = (words), .extra = (more), \
		.prepare = prepare, .command = command, .run = run \
	}

static const char *const gvisor[] = {"--runtime", "runsc", NULL};
const struct runtime runtime_docker = ROW("docker", "a container of docker", "docker", NULL);
const struct runtime runtime_podman = ROW("podman", "a container of podman", "podman", NULL);
const struct runtime runtime_nerdctl = ROW("nerdctl", "a container of nerdctl", "nerdctl", NULL);
const struct runtime runtime_runsc =
	ROW("runsc", "gVisor, registered with docker as runsc", "docker", gvisor);
