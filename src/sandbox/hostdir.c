/* SPDX-License-Identifier: Apache-2.0 */
/* Workspaces that are a directory of this host: see hostdir.h. */
#include "sandbox/hostdir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <linux/securebits.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/remove.h"
#include "launch/idmap.h"
#include "sandbox/layers.h"
#include "sandbox/owner.h"

enum { SOURCE_MAX = 1 << 30 };
#define STAGING "incoming"

char *hostdir_path(const struct sandbox *s)
{
	return path_join(s->home, "workspace");
}

void workspace_close(struct workspace *w)
{
	fd_close(&w->dir);
	overlay_close(&w->layers);
}

int hostdir_open(const struct sandbox *s, struct workspace *ret, struct error *err)
{
	auto_workspace struct workspace w = WORKSPACE_NONE;
	autofree char *path = hostdir_path(s);
	int laid;

	w.dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (w.dir < 0) {
		if (errno != ENOENT)
			return error_sys(err, "the workspace '%.300s'", path);
		laid = layers_open(s, &w.layers, err);
		if (laid < 0)
			return -1;
		errno = ENOENT;
		if (laid)
			w.dir = openat(w.layers.tree, ".",
				O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (w.dir < 0)
			return error_sys(err, "the workspace '%.300s'", path);
	}
	*ret = w;
	w = WORKSPACE_NONE;
	return 0;
}

struct repo_source hostdir_repo(const struct sandbox *s)
{
	const struct manifest_repo *repo = &s->manifest.repo;
	struct repo_source source = {.path = repo->src_path,
		.trusted = repo->trusted,
		.branch = repo->branch,
		.sparse = (const char *const *)repo->sparse_paths};

	while (repo->sparse_paths && repo->sparse_paths[source.sparse_count])
		source.sparse_count++;
	return source;
}

/* Where files are until they are whole: beside the workspace, so on the same file system. */
static int open_staging(const struct sandbox *s, int *ret, struct error *err)
{
	autofree char *path = path_join(s->home, STAGING);

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return error_sys(err, "make '%.300s'", path);
	*ret = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *ret < 0 ? error_sys(err, "open '%.300s'", path) : 0;
}

/* What killed writers have left there. Nobody else may be at work. */
static int sweep_staging(const struct sandbox *s, struct error *err)
{
	autoclose int home = open(s->home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return home < 0 ? error_sys(err, "'%.300s'", s->home) : remove_tree(home, STAGING, err);
}

static int fill_file(const struct inside *in, const struct manifest_file *f, struct error *err)
{
	autofree char *data = NULL;
	autoclose int fd = -1;
	struct stat st;
	size_t len;

	if (f->content)
		return inside_write(in, f->path, f->content, f->content_len, f->mode, err);
	fd = open(f->source, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, "source '%.300s'", f->source);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERR_USAGE, "source '%.300s' is no regular file", f->source);
	if (fd_slurp(fd, SOURCE_MAX, &data, &len, err) < 0)
		return error_wrap(err, "source '%.300s'", f->source);
	return inside_write(in, f->path, data, len, f->mode, err);
}

int hostdir_fill(struct sandbox *s, struct error *err)
{
	auto_workspace struct workspace w = WORKSPACE_NONE;
	autoclose int staging = -1;
	struct inside in = {.root = s->manifest.root};

	if (hostdir_open(s, &w, err) < 0 || open_staging(s, &staging, err) < 0)
		return -1;
	in.dir = w.dir;
	in.staging = staging;
	for (size_t i = 0; i < s->manifest.file_count; i++)
		if (fill_file(&in, &s->manifest.files[i], err) < 0)
			return error_wrap(err, "manifest: files[%zu]", i);
	return 0;
}

int hostdir_make(const struct sandbox *s, struct error *err)
{
	autofree char *path = hostdir_path(s);

	if (fault_point("sandbox: make the workspace") < 0 || mkdir(path, 0755) < 0 ||
		chmod(path, 0755) < 0)
		return error_sys(err, "make the workspace '%.300s'", path);
	return 0;
}

static int save_special(const struct sandbox *s, const char *list, struct error *err)
{
	autofree char *path = path_join(s->home, "special");
	autoclose int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return error_sys(err, "write '%.300s'", path);
	return fd_write_all(fd, list, strlen(list), err);
}

int hostdir_thaw(struct sandbox *s, struct cas *c, const char *digest, struct error *err)
{
	auto_workspace struct workspace w = WORKSPACE_NONE;
	autofree char *special = NULL;

	if (hostdir_make(s, err) < 0 || hostdir_open(s, &w, err) < 0 ||
		snapshot_thaw(c, digest, w.dir, NULL, &special, err) < 0)
		return -1;
	return special ? save_special(s, special, err) : 0;
}

/* NULL when there is none. */
static int load_special(const struct sandbox *s, char **ret, struct error *err)
{
	autofree char *path = path_join(s->home, "special");
	autoclose int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	size_t len;

	*ret = NULL;
	if (fd < 0)
		return errno == ENOENT ? 0 : error_sys(err, "read '%.300s'", path);
	return fd_slurp(fd, SNAPSHOT_SPECIAL_MAX, ret, &len, err);
}

int hostdir_keep_special(const struct sandbox *s, const struct sandbox *from, struct error *err)
{
	autofree char *list = NULL;

	if (load_special(from, &list, err) < 0)
		return -1;
	return list ? save_special(s, list, err) : 0;
}

struct copying {
	const struct sandbox *to, *from;
	struct snapshot_policy policy;
};

/* The result says whether blocks are shared. */
static int copy_work(void *arg, void *result, struct error *err)
{
	struct copying *c = arg;
	auto_workspace struct workspace to = WORKSPACE_NONE, from = WORKSPACE_NONE;
	autofree char *special = NULL;

	if (hostdir_open(c->to, &to, err) < 0 || hostdir_open(c->from, &from, err) < 0 ||
		remove_contents(to.dir, err) < 0 ||
		snapshot_copy(from.dir, &c->policy, to.dir, result, &special, err) < 0)
		return -1;
	return special ? save_special(c->to, special, err) : 0;
}

int hostdir_copy(struct sandbox *s, struct sandbox *from, enum snapshot_git git,
	const char **ret_how, struct error *err)
{
	struct copying c = {.to = s, .from = from, .policy = {.git = git}};
	autofree char *before = NULL;
	bool shared = false;

	if (hostdir_make(s, err) < 0 || load_special(from, &before, err) < 0)
		return -1;
	c.policy.special = before;
	if (copy_work(&c, &shared, err) < 0 &&
		(!owner_might(err) ||
			owner_run(copy_work, NULL, &c, &shared, sizeof(shared), err) != 0))
		return -1;
	*ret_how = shared ? "reflink" : "copy";
	return 0;
}

int hostdir_read(struct sandbox *s, const char *path, size_t max, char **ret, size_t *ret_len,
	struct error *err)
{
	auto_workspace struct workspace w = WORKSPACE_NONE;

	if (hostdir_open(s, &w, err) < 0)
		return -1;
	return inside_read(
		&(struct inside){w.dir, s->manifest.root, -1}, path, max, ret, ret_len, err);
}

/* Of the file system's owner there, who is the guest: another id could not make a file. */
struct as_owner {
	int bits; /* the securebits to go back to; -1: nothing was changed */
};

static void as_owner_end(struct as_owner *a)
{
	if (a->bits < 0)
		return;
	setfsgid(getegid());
	setfsuid(geteuid());
	(void)!prctl(PR_SET_SECUREBITS, a->bits, 0, 0, 0);
}

static struct as_owner as_owner_begin(const struct workspace *w)
{
	struct idmap ids = idmap_choose();
	struct as_owner a = {.bits = -1};

	if (w->layers.tree < 0 || !ids.privileged)
		return a;
	/* Root's rights are kept meanwhile. */
	a.bits = prctl(PR_GET_SECUREBITS);
	(void)!prctl(PR_SET_SECUREBITS, a.bits | SECBIT_NO_SETUID_FIXUP, 0, 0, 0);
	setfsgid(ids.gid);
	setfsuid(ids.uid);
	return a;
}

int hostdir_write(struct sandbox *s, const char *path, const void *data, size_t len, unsigned mode,
	struct error *err)
{
	auto_workspace struct workspace w = WORKSPACE_NONE;
	autoclose int staging = -1;
	struct as_owner CLEANUP(as_owner_end) owner = {-1};

	if (hostdir_open(s, &w, err) < 0)
		return -1;
	/* Layers are a file system of their own, into which nothing can be moved. */
	if (w.layers.tree < 0 && open_staging(s, &staging, err) < 0)
		return -1;
	owner = as_owner_begin(&w);
	return inside_write(
		&(struct inside){w.dir, s->manifest.root, staging}, path, data, len, mode, err);
}

int hostdir_ls(struct sandbox *s, const char *path, struct sandbox_names *ret, struct error *err)
{
	auto_workspace struct workspace w = WORKSPACE_NONE;

	if (hostdir_open(s, &w, err) < 0)
		return -1;
	return inside_ls(&(struct inside){w.dir, s->manifest.root, -1}, path, ret, err);
}

struct freezing {
	int dir;
	const struct snapshot_policy *policy;
	struct cas *cas;
};

static int freeze_work(void *arg, void *result, struct error *err)
{
	struct freezing *f = arg;

	return snapshot_freeze(f->dir, f->policy, f->cas, result, err);
}

/* The child's hold of it ends with the child. */
static int hold_frozen(void *arg, const void *result, struct error *err)
{
	struct freezing *f = arg;
	int held = cas_hold(f->cas, result, err);

	return held > 0	  ? 0
	       : held < 0 ? -1
			  : error_set(err, ERR_BUSY, "the new snapshot was removed from the store");
}

int hostdir_freeze(struct sandbox *s, struct cas *c, const struct snapshot_policy *policy,
	char ret[DIGEST_TEXT], struct error *err)
{
	struct snapshot_policy p = *policy;
	autofree char *special = NULL;
	auto_workspace struct workspace w = WORKSPACE_NONE;
	struct freezing f = {.policy = &p, .cas = c};

	if (hostdir_open(s, &w, err) < 0 || load_special(s, &special, err) < 0 ||
		sweep_staging(s, err) < 0)
		return -1;
	p.special = special;
	f.dir = w.dir;
	if (freeze_work(&f, ret, err) == 0)
		return 0;
	return owner_might(err) &&
			       owner_run(freeze_work, hold_frozen, &f, ret, DIGEST_TEXT, err) == 0
		       ? 0
		       : -1;
}

int hostdir_destroy(struct sandbox *s, struct error *err)
{
	autoclose int home = open(s->home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (home < 0)
		return errno == ENOENT ? 0 : error_sys(err, "'%.300s'", s->home);
	if (remove_tree(home, "workspace", err) < 0)
		return -1;
	return layers_destroy(s, err);
}
