/* SPDX-License-Identifier: Apache-2.0 */
/* From the command line to the launch contract: see contract.h and docs/format/contract. */
#include "run/contract.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/path.h"
#include "base/str.h"
#include "config/paths.h"
#include "crypto/digest.h"
#include "run/image.h"
#include "run/inputs.h"
#include "run/network.h"
#include "run/switches.h"
#include "wire/environment.h"

enum {
	RLIMIT_DATA_NUMBER = 2,
	RLIMIT_NPROC_NUMBER = 6,
	PIDS_MAX = 4194304,
	MEMORY_MIN = 16 * 1024 * 1024
};

/* Directories of the host view; the private copy cannot stand at or above one of them. */
static const char *const view_dirs[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64",
	"/libx32", "/etc", "/proc", "/sys", "/dev", "/tmp"};
/* ... nor below one of these, which the kernel makes. */
static const char *const kernel_dirs[] = {"/proc", "/sys", "/dev"};

void contract_host_finish(struct contract_host *h)
{
	free(h->cwd);
	free(h->home);
	*h = (struct contract_host){0};
}

int contract_host_read(struct contract_host *ret, struct error *err)
{
	auto_contract_host struct contract_host h = {.home = paths_home()};

	h.cwd = getcwd(NULL, 0);
	if (!h.cwd)
		return error_sys(err, "the current directory");
	if (h.cwd[0] != '/')
		return error_set(err, ERR_MISSING, "the current directory is not reachable from /");
	h.tty = isatty(0) && isatty(1) && tcgetpgrp(0) == getpgrp();
	if (inputs_cpu(h.cpu, err) < 0)
		return -1;
	*ret = h;
	h = (struct contract_host){0};
	return 0;
}

/* SRC[:DST]; DST defaults to the resolved SRC. */
static int add_bind(
	struct contract *c, const char *text, bool writable, const char *cwd, struct error *err)
{
	const char *option = writable ? "--bind" : "--bind-ro", *colon = strrchr(text, ':');
	struct contract_bind *b = &c->binds[c->bind_count];
	autofree char *source = NULL, *joined = NULL, *real = NULL;

	source = colon ? mem_strndup(text, (size_t)(colon - text)) : mem_strdup(text);
	if (!source[0] || (colon && colon[1] != '/'))
		return error_set(err, ERR_USAGE,
			"%s '%.200s' is not SOURCE or SOURCE:/ABSOLUTE/DESTINATION", option, text);
	joined = path_join(cwd, source);
	real = realpath(joined, NULL);
	if (!real)
		return error_sys(err, "%s '%.200s'", option, source);
	if (access(real, R_OK) < 0)
		return error_sys(err, "%s '%.200s' cannot be read", option, source);
	b->dest = colon ? path_tidy(colon + 1) : path_tidy(joined);
	if (strcmp(b->dest, "/") == 0) {
		free(b->dest);
		b->dest = NULL;
		return error_set(err, ERR_USAGE,
			"%s '%.200s': the destination cannot be /; use --rootfs", option, text);
	}
	b->source = take_ptr(real);
	b->writable = writable;
	c->bind_count++;
	return 0;
}

static int build_binds(
	const struct run_options *o, struct contract *c, const char *cwd, struct error *err)
{
	size_t total = o->bind_ro.count + o->bind.count;

	if (total > CONTRACT_BINDS_MAX)
		return error_set(
			err, ERR_LIMIT, "%zu binds; the limit is %d", total, CONTRACT_BINDS_MAX);
	c->binds = mem_array(total, sizeof(*c->binds));
	for (size_t i = 0; i < o->bind_ro.count; i++)
		if (add_bind(c, o->bind_ro.items[i], false, cwd, err) < 0)
			return -1;
	for (size_t i = 0; i < o->bind.count; i++)
		if (add_bind(c, o->bind.items[i], true, cwd, err) < 0)
			return -1;
	return 0;
}

/* NULL when the directory can be copied at its own path, else what stands against it. */
static const char *copy_refusal(const char *dir)
{
	for (size_t i = 0; i < ARRAY_LEN(view_dirs); i++)
		if (path_is_in(view_dirs[i], dir))
			return view_dirs[i];
	for (size_t i = 0; i < ARRAY_LEN(kernel_dirs); i++)
		if (path_is_in(dir, kernel_dirs[i]))
			return kernel_dirs[i];
	return NULL;
}

static int build_dirs(const struct run_options *o, const struct contract_host *h,
	struct contract *c, run_say *say, struct error *err)
{
	const char *against = o->rootfs ? NULL : copy_refusal(h->cwd);
	struct stat st;

	if (o->rootfs) {
		c->rootfs = realpath(o->rootfs, NULL);
		if (!c->rootfs || stat(c->rootfs, &st) < 0)
			return error_sys(err, "--rootfs '%.300s'", o->rootfs);
		if (!S_ISDIR(st.st_mode))
			return error_set(
				err, ERR_USAGE, "--rootfs '%.300s' is not a directory", o->rootfs);
		if (strcmp(c->rootfs, "/") == 0)
			return error_set(err, ERR_USAGE,
				"--rootfs / would show all of the host; leave it out");
	} else if (!against) {
		c->copy_dir = mem_strdup(h->cwd);
	} else if (!o->workdir) {
		return error_set(err, ERR_USAGE,
			"the current directory '%.200s' cannot be copied over %s of the sandbox; "
			"run from a "
			"directory of your project, or give --workdir",
			h->cwd, against);
	}
	if (c->copy_dir && h->home && path_is_in(h->home, c->copy_dir))
		say("warning: the current directory holds your whole home directory, so the guest "
		    "can read all of it");
	if (o->workdir && o->workdir[0] != '/' && !c->copy_dir)
		return error_set(
			err, ERR_USAGE, "--workdir '%.300s' is not an absolute path", o->workdir);
	if (o->workdir)
		c->workdir = path_join(c->copy_dir ? c->copy_dir : "/", o->workdir);
	else
		c->workdir = mem_strdup(c->copy_dir ? c->copy_dir : "/");
	return 0;
}

static int build_limits(const struct run_options *o, struct contract *c, struct error *err)
{
	if (o->memory) {
		if (o->memory < MEMORY_MIN)
			return error_set(
				err, ERR_USAGE, "--memory below 16M does not hold a program");
		if (o->memory > INT64_MAX)
			return error_set(err, ERR_USAGE, "--memory is too large");
		c->memory_bytes = o->memory;
	}
	c->rlimits[RLIMIT_DATA_NUMBER] = (struct contract_rlimit){c->memory_bytes, c->memory_bytes};
	if (o->pids > PIDS_MAX)
		return error_set(
			err, ERR_USAGE, "--pids above %d is more than Linux has", PIDS_MAX);
	if (o->pids) {
		c->pids = (uint32_t)o->pids;
		/* Where no control group can be made, this limit alone holds the number down. */
		c->rlimits[RLIMIT_NPROC_NUMBER] = (struct contract_rlimit){c->pids, c->pids};
	}
	return 0;
}

static void build_argv(const struct run_options *o, struct contract *c)
{
	size_t count = 0;

	while (o->argv && o->argv[count])
		count++;
	c->argv = mem_array(count + 1, sizeof(*c->argv));
	for (size_t i = 0; i < count; i++)
		c->argv[i] = mem_strdup(o->argv[i]);
}

static int build_network(const struct run_options *o, struct contract *c, struct error *err)
{
	if (!o->network || strcmp(o->network, "none") == 0)
		return 0;
	if (network_check(o->network, err) < 0)
		return -1;
	if (!c->deterministic)
		return error_set(err, ERR_USAGE,
			"--network needs determinism, which makes the connections outside: leave "
			"--no-determinism out");
	if (c->tty)
		return error_set(err, ERR_USAGE,
			"--network goes with pipes: a terminal on standard input takes keys as "
			"they come; give it input, as with < /dev/null");
	free(c->network);
	c->network = mem_strdup(o->network);
	return 0;
}

/* What a reference gives in place of the host's programs and the current directory. */
static int build_image(const struct run_options *o, const struct image *image, struct contract *c,
	struct error *err)
{
	c->rootfs = mem_strdup(image->root ? image->root : RUN_IMAGE_ELSEWHERE);
	return run_image_config(image, o, c, err) < 0 ? -1
	       : !image->root			      ? 0
			      : run_image_copy_dir(image, c->workdir, &c->copy_dir, err);
}

int contract_build(const struct run_options *o, const struct contract_host *h, struct contract *ret,
	run_say *say, struct error *err)
{
	auto_contract struct contract c;

	contract_init(&c);
	c.deterministic = !o->no_determinism;
	c.tty = h->tty;
	if (build_network(o, &c, err) < 0)
		return -1;
	c.stdin_kind = h->tty ? CONTRACT_STDIN_STREAM : CONTRACT_STDIN_EMPTY;
	c.clock_step_ns = o->clock_step_ns;
	c.sched_seed = o->sched_seed;
	if (o->switches && switches_parse(o->switches, &c, err) < 0)
		return -1;
	if (o->epoch && num_parse_time(o->epoch, &c.epoch_ns, err) < 0)
		return error_wrap(err, "--epoch");
	c.workflow_id = mem_strdup(o->workflow_id ? o->workflow_id : "sandbox");
	digest_hkdf(c.workflow_id, strlen(c.workflow_id), "sandglass/entropy/v1", c.entropy_key,
		sizeof(c.entropy_key));
	snprintf(c.cpu, sizeof(c.cpu), "%s", h->cpu);
	environment_init(&c);
	if (!h->image)
		build_argv(o, &c);
	if (!h->image && (o->user || o->entrypoint || o->allow_tag))
		return error_set(
			err, ERR_USAGE, "--user, --entrypoint and --allow-tag go with --image");
	if (build_limits(o, &c, err) < 0 ||
		(h->image ? build_image(o, h->image, &c, err) : build_dirs(o, h, &c, say, err)) <
			0 ||
		environment_add(&c, o->env.items, o->env.count, "--env", err) < 0 ||
		build_binds(o, &c, h->cwd, err) < 0 || contract_check(&c, err) < 0)
		return -1;
	*ret = c;
	c = (struct contract){0};
	return 0;
}

static bool has_made_dirs(const struct contract *c)
{
	autofree char *real = c->rootfs ? realpath(c->rootfs, NULL) : NULL;

	/* A root that is gone is told later. */
	if (c->rootfs && strcmp(real ? real : c->rootfs, "/") == 0)
		return false;
	if (c->copy_dir && !c->rootfs && copy_refusal(c->copy_dir))
		return false;
	if (c->copy_dir && c->rootfs) {
		autofree char *tidy = path_tidy(c->copy_dir);

		if (strcmp(tidy, c->copy_dir) != 0)
			return false;
	}
	for (size_t i = 0; i < c->bind_count; i++) {
		autofree char *tidy = path_tidy(c->binds[i].dest);

		if (strcmp(tidy, c->binds[i].dest) != 0 || strcmp(tidy, "/") == 0)
			return false;
	}
	return true;
}

static bool has_made_limits(const struct contract *c)
{
	auto_contract struct contract d;

	contract_init(&d);
	d.rlimits[RLIMIT_DATA_NUMBER] = (struct contract_rlimit){c->memory_bytes, c->memory_bytes};
	d.rlimits[RLIMIT_NPROC_NUMBER] = (struct contract_rlimit){c->pids, c->pids};
	return c->memory_bytes >= MEMORY_MIN && c->memory_bytes <= INT64_MAX && c->pids > 0 &&
	       c->pids <= PIDS_MAX && c->tmp_bytes == d.tmp_bytes &&
	       c->tmp_inodes == d.tmp_inodes && c->copy_bytes == d.copy_bytes &&
	       c->copy_inodes == d.copy_inodes &&
	       memcmp(c->rlimits, d.rlimits, sizeof(d.rlimits)) == 0;
}

static bool has_made_identity(const struct contract *c)
{
	auto_contract struct contract d;

	contract_init(&d);
	digest_hkdf(c->workflow_id, strlen(c->workflow_id), "sandglass/entropy/v1", d.entropy_key,
		sizeof(d.entropy_key));
	/* Images have users of their own. */
	return (c->rootfs || (c->uid == d.uid && c->gid == d.gid)) &&
	       c->umask_bits == d.umask_bits && c->first_pid == d.first_pid &&
	       strcmp(c->hostname, d.hostname) == 0 && c->epoch_ns <= INT64_MAX &&
	       c->monotonic_ns == d.monotonic_ns && c->clock_step_ns <= UINT32_MAX &&
	       memcmp(c->entropy_key, d.entropy_key, sizeof(d.entropy_key)) == 0;
}

int contract_check_made(const struct contract *c, struct error *err)
{
	struct error ignored;
	const char *what =
		network_check(c->network, &ignored) < 0 || (c->tty && contract_has_outside(c))
			? "network"
		: !has_made_dirs(c)	? "directories"
		: !has_made_limits(c)	? "limits"
		: !has_made_identity(c) ? "identity or clock"
					: NULL;

	return what ? error_set(err, ERR_FORMAT, "no command line gives a run these %s", what) : 0;
}
