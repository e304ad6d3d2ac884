/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backend `native`: a directory of the host, shown in a container of its own to each program.
 *
 * A container lives as long as its program: all state is in the workspace, so nothing has to run
 * between two programs, and a time-out costs the session nothing.
 */
#include <stdio.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "git/repo.h"
#include "sandbox/container.h"
#include "sandbox/drivers.h"
#include "sandbox/hostdir.h"

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
	if (container_exec(&m, NULL, "/", &x, &r, &why) < 0 || r.end != SANDBOX_EXITED ||
		r.code != 0) {
		ret->available = false;
		snprintf(ret->detail, sizeof(ret->detail), "%.250s",
			why.msg[0] ? why.msg : r.detail);
	}
	return 0;
}

static int create(struct sandbox *s, struct error *err)
{
	autofree char *dir = hostdir_path(s);
	struct repo_source source = hostdir_repo(s);
	char commit[REPO_COMMIT_SIZE];

	if (hostdir_make(s, err) < 0)
		return -1;
	if (source.path && repo_checkout(&source, dir, commit, err) < 0)
		return error_wrap(err, "manifest: repo");
	return hostdir_fill(s, err);
}

static int copy(struct sandbox *s, struct sandbox *from, const char **ret_how, struct error *err)
{
	return hostdir_copy(s, from, SNAPSHOT_GIT_KEEP, ret_how, err);
}

static int exec(struct sandbox *s, const struct sandbox_exec *x, struct sandbox_result *ret,
	struct error *err)
{
	autofree char *path = hostdir_path(s), *real = NULL, *cwd = NULL;
	autoclose int dir = -1, at = -1;

	if (hostdir_open(s, &dir, err) < 0 ||
		inside_open_dir(&(struct inside){dir, s->manifest.root, -1}, x->cwd ? x->cwd : ".",
			&at, &real, err) < 0)
		return -1;
	cwd = str_format("%s%s%s", s->manifest.root, real[0] ? "/" : "", real);
	return container_exec(&s->manifest, path, cwd, x, ret, err);
}

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
