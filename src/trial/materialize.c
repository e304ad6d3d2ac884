/* SPDX-License-Identifier: Apache-2.0 */
/* From a directory and a pin to a described pack: private copies, pins, manifests, surfaces. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "config/programs.h"
#include "trial/inside.h"

/* Any fault of a pack ends the trial before anything of it is loaded. */
static int refuse(struct trial *t, const struct trial_pack *pack, const struct faults *f)
{
	autofree char *text = faults_text(f);

	return trial_over(t, TRIAL_MATERIALIZATION_FAILED, "pack '%s': %s", pack->dir, text);
}

static int take_manifest(
	struct trial *t, struct player *p, int copy, struct faults *faults, struct error *err)
{
	auto_faults struct faults ignored = {0};
	struct faults *f = t->spec->no_manifest ? &ignored : faults;

	if (!t->spec->no_manifest || bundle_has(&p->bundle, "manifest.toml"))
		if (pack_manifest_load(copy, &p->manifest, f, err) < 0)
			return -1;
	pack_code_find(p->manifest, &p->bundle, &p->code, faults);
	return 0;
}

static int take_pack(struct trial *t, size_t number, struct error *err)
{
	const struct trial_pack *pack = &t->spec->packs[number];
	struct player *p = &t->players[number];
	auto_faults struct faults faults = {0};
	autoclose int dir = -1, copy = -1;

	if (!bundle_is_pin(pack->pin))
		return trial_over(t, TRIAL_MATERIALIZATION_FAILED,
			"pack '%s': the external pin '%.100s' must be sha256: and 64 lowercase hex "
			"digits",
			pack->dir, pack->pin);
	dir = open(pack->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return trial_over(t, TRIAL_MATERIALIZATION_FAILED, "pack '%s': %s", pack->dir,
			strerror(errno));
	if (fault_point("trial: copy a pack") < 0)
		return error_sys(err, "copy '%.200s'", pack->dir);
	if (tree_make(&t->tree, number, &p->tree, &copy, err) < 0)
		return -1;
	if (bundle_take(dir, copy, &p->bundle, &faults, err) < 0) {
		if (err->code != ERR_BUSY && err->code != ERR_LIMIT && err->code != ERR_MISSING)
			return -1;
		return trial_over(
			t, TRIAL_MATERIALIZATION_FAILED, "pack '%s': %s", pack->dir, err->msg);
	}
	if (!faults.count && strcmp(p->bundle.digest, pack->pin) != 0)
		faults_add(&faults, "bundle hash mismatch: it is %s, and %s is expected",
			p->bundle.digest, pack->pin);
	if (!faults.count && take_manifest(t, p, copy, &faults, err) < 0)
		return -1;
	return faults.count ? refuse(t, pack, &faults) : 0;
}

/* A path of the bundle, letter by letter: so it leads nowhere else. */
static int check_scenario(struct trial *t)
{
	const char *s = t->spec->scenario, *end;
	autofree char *file = NULL;

	if (!s || !s[0])
		return 0;
	end = strstr(s, "::");
	file = mem_strndup(s, end ? (size_t)(end - s) : strlen(s));
	if (bundle_has(&trial_candidate(t)->bundle, file))
		return 0;
	return trial_over(t, TRIAL_SCENARIO_FAILED,
		"the scenario '%s' is no file of the candidate's bundle", file);
}

/* The program's own path: a mount needs one. */
static int find_host(struct trial *t, struct error *err)
{
	autoclose int fd = -1;
	char link[32], path[PATH_MAX];
	ssize_t len;

	if (t->host)
		return 0;
	if (program_open("sandglass-pack-host", "install it beside sandglass", &fd, err) < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len < 0)
		return error_sys(err, "find the path of sandglass-pack-host");
	t->host = mem_strndup(path, (size_t)len);
	return 0;
}

int trial_materialize(struct trial *t, struct error *err)
{
	int r = tree_open(t->spec->work, &t->tree, err);

	for (size_t i = 0; r == 0 && i < t->spec->pack_count; i++)
		r = take_pack(t, i, err);
	for (size_t i = 0; r == 0 && i < t->spec->pack_count; i++)
		if (t->players[i].code.library)
			r = find_host(t, err);
	return r == 0 ? check_scenario(t) : r;
}

static int start(struct trial *t, struct player *p, struct error *err)
{
	const struct worker_spec spec = {.tree = p->tree,
		.code = &p->code,
		.host = p->code.library ? t->host : NULL,
		.limits = &t->spec->limits,
		.env = t->spec->env,
		.deterministic = t->spec->deterministic};

	if (fault_point("trial: start a program") < 0)
		return error_sys(err, "start a program");
	if (worker_start(&p->worker, &spec, err) < 0)
		return -1;
	p->is_started = true;
	return 0;
}

static int describe(struct trial *t, size_t number, struct error *err)
{
	struct player *p = &t->players[number];
	auto_faults struct faults faults = {0};
	auto_json json_t *answer = NULL;
	int r = trial_call(
		t, &(struct call){.player = p, .actor = "pack"}, "describe", "", &answer, err);

	if (r == STEP_FAILED)
		return trial_over(t, TRIAL_MATERIALIZATION_FAILED, "pack '%s': %s",
			t->spec->packs[number].dir, t->said);
	if (r != 0)
		return r;
	p->surface = json_incref(json_object_get(answer, "surface"));
	pack_described_check(p->surface, &faults);
	if (!faults.count && !t->spec->no_manifest)
		pack_surface_check(p->manifest, p->surface, &faults);
	if (faults.count)
		return refuse(t, &t->spec->packs[number], &faults);
	p->name = mem_strdup(trial_text(p->surface, "name") ?: "");
	return 0;
}

int trial_describe(struct trial *t, struct error *err)
{
	int r = 0;

	/* They come up side by side. */
	for (size_t i = 0; r == 0 && i < t->spec->pack_count; i++)
		r = start(t, &t->players[i], err);
	for (size_t i = 0; r == 0 && i < t->spec->pack_count; i++)
		r = describe(t, i, err);
	return r;
}
