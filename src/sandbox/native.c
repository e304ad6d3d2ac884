/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backend `native`: a directory of the host, shown in a container of its own to each program.
 *
 * A container lives as long as its program: all state is in the workspace, so nothing has to run
 * between two programs, and a time-out costs the session nothing.
 */
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "codec/json.h"
#include "git/repo.h"
#include "sandbox/container.h"
#include "sandbox/drivers.h"
#include "sandbox/hostdir.h"
#include "sandbox/layers.h"

static int probe(struct sandbox_probe *ret, struct error *err)
{
	char program[] = "true", *const argv[] = {program, NULL};
	struct sandbox_exec x = {.argv = argv, .input = -1, .stop = -1};
	auto_manifest struct manifest m;
	struct sandbox_result r;
	struct error why = {0};

	(void)err;
	manifest_init(&m);
	*ret = (struct sandbox_probe){.available = true};
	if (container_exec(&m, NULL, -1, "/", &x, &r, &why) < 0 || r.end != SANDBOX_EXITED ||
		r.code != 0) {
		ret->available = false;
		snprintf(ret->detail, sizeof(ret->detail), "%.250s",
			why.msg[0] ? why.msg : r.detail);
	}
	return 0;
}

/* How the manifest wants forks made. */
enum fork_how { FORK_AUTO, FORK_COPY, FORK_OVERLAY };

static int fork_how(const struct sandbox *s, enum fork_how *ret, struct error *err)
{
	static const char *const names[] = {"auto", "copy", "overlay"};
	auto_json json_t *all = NULL;
	const char *how = NULL;

	*ret = FORK_AUTO;
	if (s->manifest.options && json_read(s->manifest.options, strlen(s->manifest.options),
					   MANIFEST_TEXT_MAX, &all, err) < 0)
		return error_wrap(err, "manifest: options");
	how = json_string_value(json_object_get(all, "fork"));
	for (size_t i = 0; how && i < ARRAY_LEN(names); i++)
		if (strcmp(how, names[i]) == 0) {
			*ret = (enum fork_how)i;
			return 0;
		}
	return how ? error_set(err, ERR_FORMAT,
			     "manifest: options: fork: '%.40s' is none of auto, copy, overlay", how)
		   : 0;
}

static int create(struct sandbox *s, struct error *err)
{
	autofree char *dir = hostdir_path(s);
	struct repo_source source = hostdir_repo(s);
	char commit[REPO_COMMIT_SIZE];
	enum fork_how how;

	if (fork_how(s, &how, err) < 0 || hostdir_make(s, err) < 0)
		return -1;
	if (source.path && repo_checkout(&source, dir, commit, err) < 0)
		return error_wrap(err, "manifest: repo");
	return hostdir_fill(s, err);
}

static int copy(struct sandbox *s, struct sandbox *from, const char **ret_how, struct error *err)
{
	enum fork_how how;
	int laid = 0;

	if (fork_how(s, &how, err) < 0)
		return -1;
	if (how != FORK_COPY)
		laid = layers_fork(s, from, how == FORK_OVERLAY, err);
	*ret_how = "overlay";
	if (laid != 0)
		return laid < 0 ? -1 : hostdir_keep_special(s, from, err);
	return hostdir_copy(s, from, SNAPSHOT_GIT_KEEP, ret_how, err);
}

static int exec(struct sandbox *s, const struct sandbox_exec *x, struct sandbox_result *ret,
	struct error *err)
{
	auto_workspace struct workspace w = WORKSPACE_NONE;
	autofree char *path = hostdir_path(s), *real = NULL, *cwd = NULL;
	autoclose int at = -1;

	if (hostdir_open(s, &w, err) < 0 ||
		inside_open_dir(&(struct inside){w.dir, s->manifest.root, -1},
			x->cwd ? x->cwd : ".", &at, &real, err) < 0)
		return -1;
	cwd = str_format("%s%s%s", s->manifest.root, real[0] ? "/" : "", real);
	return container_exec(&s->manifest, path, w.layers.tree, cwd, x, ret, err);
}

static const struct sandbox_option options[] = {{"fork", SANDBOX_OPTION_TEXT}, {NULL, 0}};

static int stop_nothing(struct sandbox *s, struct error *err)
{
	(void)s;
	(void)err;
	return 0;
}

const struct sandbox_driver driver_native = {
	.name = "native",
	.summary = "a container of namespaces on this host, one for each program",
	.capabilities = SANDBOX_FILE_RW | SANDBOX_EXEC | SANDBOX_SNAPSHOT | SANDBOX_DETERMINISTIC,
	.tier = SANDBOX_TIER_CONTAINER,
	.options = options,
	.probe = probe,
	.create = create,
	.thaw = hostdir_thaw,
	.copy = copy,
	.exec = exec,
	.read = hostdir_read,
	.write = hostdir_write,
	.ls = hostdir_ls,
	.freeze = hostdir_freeze,
	.shutdown = stop_nothing,
	.destroy = hostdir_destroy,
};
