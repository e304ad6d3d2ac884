/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backend `worktree`: a directory of the host and ordinary processes in it. With a repo it is a
 * linked worktree of that repository, named like the sandbox; home/repo holds its path.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/path.h"
#include "git/repo.h"
#include "sandbox/drivers.h"
#include "sandbox/hostdir.h"
#include "sandbox/keeper.h"
#include "wire/environment.h"

enum { REPO_MAX = 4096 };

static int probe(struct sandbox_probe *ret, struct error *err)
{
	(void)err;
	*ret = (struct sandbox_probe){.available = true};
	return 0;
}

/* Written before the worktree is made, so that whoever sweeps up finds it. */
static int save_repo(const struct sandbox *s, struct error *err)
{
	autofree char *path = path_join(s->home, "repo");
	autoclose int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return error_sys(err, "write '%.300s'", path);
	if (fd_write_all(fd, s->manifest.repo.src_path, strlen(s->manifest.repo.src_path), err) < 0)
		return -1;
	return fsync(fd) < 0 ? error_sys(err, "write '%.300s'", path) : 0;
}

/* 1: *ret is the repository that this is a worktree of (caller frees); 0: of none. */
static int find_repo(const struct sandbox *s, char **ret, struct error *err)
{
	autofree char *path = path_join(s->home, "repo");
	autoclose int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	size_t len;

	if (fd < 0)
		return errno == ENOENT ? 0 : error_sys(err, "read '%.300s'", path);
	return fd_slurp(fd, REPO_MAX, ret, &len, err) < 0 ? -1 : 1;
}

static const char *worktree_name(const struct sandbox *s)
{
	const char *slash = strrchr(s->home, '/');

	return slash ? slash + 1 : s->home;
}

static int create(struct sandbox *s, struct error *err)
{
	autofree char *dir = hostdir_path(s);
	struct repo_source source = hostdir_repo(s);
	char commit[REPO_COMMIT_SIZE];

	if (!source.path && hostdir_make(s, err) < 0)
		return -1;
	if (source.path && (save_repo(s, err) < 0 || repo_worktree_add(&source, worktree_name(s),
							     NULL, dir, commit, err) < 0))
		return error_wrap(err, "manifest: repo");
	return hostdir_fill(s, err);
}

static int exec(struct sandbox *s, const struct sandbox_exec *x, struct sandbox_result *ret,
	struct error *err)
{
	/* The fixed environment is that of the contract, whose instant is its default. */
	auto_contract struct contract c;
	auto_workspace struct workspace w = WORKSPACE_NONE;
	autoclose int cwd = -1;
	size_t own = 0, added = 0;

	contract_init(&c);
	environment_init(&c);
	while (s->manifest.env && s->manifest.env[own])
		own++;
	while (x->env && x->env[added])
		added++;
	if (x->deterministic)
		return error_set(err, ERR_UNSUPPORTED,
			"the backend 'worktree' runs nothing deterministically; use 'native'");
	if (environment_add(&c, (const char *const *)s->manifest.env, own, "manifest: env", err) <
			0 ||
		environment_add(&c, (const char *const *)x->env, added, "env", err) < 0 ||
		hostdir_open(s, &w, err) < 0 ||
		inside_open_dir(&(struct inside){w.dir, s->manifest.root, -1},
			x->cwd ? x->cwd : ".", &cwd, NULL, err) < 0)
		return -1;
	return keeper_exec(cwd, c.env,
		x->timeout_ns ? x->timeout_ns : s->manifest.timeout_seconds * NUM_SECOND_NS, x, ret,
		err);
}

/* The .git of a linked worktree is a file that names a place of this host: it is never frozen. */
static int freeze(struct sandbox *s, struct cas *c, const struct snapshot_policy *policy,
	char ret[DIGEST_TEXT], struct error *err)
{
	struct snapshot_policy p = *policy;
	autofree char *repo = NULL;
	int linked = find_repo(s, &repo, err);

	if (linked < 0)
		return -1;
	if (linked)
		p.git = SNAPSHOT_GIT_DROP;
	return hostdir_freeze(s, c, &p, ret, err);
}

/* What comes of it is a plain directory: a worktree is its repository's, which knows of one. */
static int copy(struct sandbox *s, struct sandbox *from, const char **ret_how, struct error *err)
{
	autofree char *repo = NULL;
	int linked = find_repo(from, &repo, err);

	if (linked < 0)
		return -1;
	return hostdir_copy(s, from, linked ? SNAPSHOT_GIT_DROP : SNAPSHOT_GIT_KEEP, ret_how, err);
}

static int stop_nothing(struct sandbox *s, struct error *err)
{
	(void)s;
	(void)err;
	return 0;
}

static int destroy(struct sandbox *s, struct error *err)
{
	autofree char *repo = NULL, *dir = hostdir_path(s);
	int linked = find_repo(s, &repo, err);

	if (linked < 0)
		return -1;
	/* A repository that is gone has no worktree to forget. */
	if (linked && repo && access(repo, F_OK) == 0 &&
		repo_worktree_remove(repo, worktree_name(s), dir, err) < 0)
		return -1;
	return hostdir_destroy(s, err);
}

const struct sandbox_driver driver_worktree = {
	.name = "worktree",
	.summary = "a git worktree or a plain directory, and ordinary processes in it",
	.warning = "it isolates nothing: programs run as you, with your files and your network; "
		   "use it "
		   "for code that you trust",
	.capabilities = SANDBOX_FILE_RW | SANDBOX_EXEC | SANDBOX_NETWORK | SANDBOX_SNAPSHOT,
	.tier = SANDBOX_TIER_NONE,
	.probe = probe,
	.create = create,
	.thaw = hostdir_thaw,
	.copy = copy,
	.exec = exec,
	.read = hostdir_read,
	.write = hostdir_write,
	.ls = hostdir_ls,
	.freeze = freeze,
	.shutdown = stop_nothing,
	.destroy = destroy,
};
