/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of files into which layers are laid: see tree.h. */
#include "image/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/remove.h"
#include "base/str.h"

enum { NAMES_MAX = 10000000 };

static int refuse(const char *name, const char *why, struct error *err)
{
	autofree char *shown = str_printable(name, strlen(name), 160);

	return error_set(err, ERR_ESCAPE, "it has '%s', %s", shown, why);
}

int tree_tidy(const char *name, char ret[PATH_MAX], struct error *err)
{
	size_t used = 0;

	if (name[0] == '/')
		return refuse(name, "an absolute name", err);
	while (*name) {
		size_t len = strcspn(name, "/");

		if (len == 2 && name[0] == '.' && name[1] == '.')
			return refuse(name, "a name with '..'", err);
		if (len > 0 && !(len == 1 && name[0] == '.')) {
			if (used + len + 2 > PATH_MAX)
				return error_set(err, ERR_LIMIT,
					"it has a path of more than %d bytes", PATH_MAX - 1);
			if (used)
				ret[used++] = '/';
			memcpy(ret + used, name, len);
			used += len;
		}
		name += len + (name[len] == '/');
	}
	ret[used] = '\0';
	return 0;
}

const char *tree_last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void tree_forget(struct archive_tree *t)
{
	fd_close(&t->parent_fd);
}

static int open_beneath(int root, const char *path, int flags)
{
	struct open_how how = {.flags = (uint64_t)flags | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

void tree_note(struct archive_tree *t, const char *path, mode_t mode, uid_t uid, gid_t gid,
	struct timespec mtime)
{
	struct tree_dir *d;

	if (t->dir_count == t->dir_room) {
		t->dir_room = t->dir_room * 2 + 256;
		t->dirs = mem_grow(t->dirs, t->dir_room, sizeof(*t->dirs));
	}
	d = &t->dirs[t->dir_count];
	*d = (struct tree_dir){.path = mem_strdup(path),
		.order = t->dir_count++,
		.mode = mode,
		.uid = uid,
		.gid = gid,
		.mtime = mtime};
}

/* Every directory of the path that is not there. */
static int make_dirs(struct archive_tree *t, const char *path, struct error *err)
{
	char part[PATH_MAX];

	for (size_t len = strcspn(path, "/");; len += 1 + strcspn(path + len + 1, "/")) {
		memcpy(part, path, len);
		part[len] = '\0';
		/* What is above it is no symlink: it was opened or made one step before. */
		if (mkdirat(t->root, part, 0700) == 0) {
			tree_note(t, part, 0755, 0, 0, (struct timespec){0});
		} else if (errno != EEXIST) {
			return error_sys(err, "make the directory '%.200s'", part);
		} else {
			autoclose int fd = open_beneath(t->root, part, O_PATH | O_DIRECTORY);

			if (fd < 0)
				return refuse(path, "which leads through a symlink or a file", err);
		}
		if (t->is_upper)
			path_set_add(&t->own, part);
		if (!path[len])
			return 0;
	}
}

int tree_parent(struct archive_tree *t, const char *path, bool make, int *ret_fd, struct error *err)
{
	size_t len = (size_t)(tree_last(path) - path);
	char dir[PATH_MAX];

	memcpy(dir, path, len);
	dir[len ? len - 1 : 0] = '\0';
	if (t->parent_fd >= 0 && strcmp(dir, t->parent) == 0) {
		*ret_fd = t->parent_fd;
		return 0;
	}
	tree_forget(t);
	t->parent_fd = open_beneath(t->root, dir[0] ? dir : ".", O_PATH | O_DIRECTORY);
	if (t->parent_fd < 0 && errno == ENOENT && make) {
		if (make_dirs(t, dir, err) < 0)
			return -1;
		t->parent_fd = open_beneath(t->root, dir, O_PATH | O_DIRECTORY);
	}
	if (t->parent_fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return refuse(path, "which leads through a symlink or a file", err);
	if (t->parent_fd < 0)
		return error_sys(err, "open '%.200s'", dir);
	memcpy(t->parent, dir, len ? len : 1);
	*ret_fd = t->parent_fd;
	return 0;
}

int tree_clear(struct archive_tree *t, const char *path, struct error *err)
{
	autoclose int dir = -1;
	int parent;

	if (tree_parent(t, path, false, &parent, err) < 0)
		return -1;
	/* remove_tree opens its directory to list it. */
	dir = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return error_sys(err, "open the directory of '%.200s'", path);
	if (remove_tree(dir, tree_last(path), err) < 0)
		return -1;
	tree_forget(t);
	return 0;
}

/* Everything in a directory that the layers below have made goes. */
static int make_opaque(struct archive_tree *t, const char *path, struct error *err)
{
	auto_names struct beneath_names names = {0};
	autoclose int dir =
		open_beneath(t->root, path[0] ? path : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW);

	if (dir < 0)
		return errno == ENOENT ? 0 : error_sys(err, "open '%.200s'", path);
	if (beneath_list(dir, NAMES_MAX, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		autofree char *below = path[0] ? str_format("%s/%s", path, names.items[i])
					       : mem_strdup(names.items[i]);
		struct stat st;

		if (!path_set_has(&t->own, below)) {
			if (remove_tree(dir, names.items[i], err) < 0)
				return -1;
			tree_forget(t);
			continue;
		}
		if (fstatat(dir, names.items[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISDIR(st.st_mode) && make_opaque(t, below, err) < 0)
			return -1;
	}
	return 0;
}

static bool is_dir(struct archive_tree *t, const char *path)
{
	struct error err;
	struct stat st;
	int parent;

	return tree_parent(t, path, false, &parent, &err) == 0 &&
	       fstatat(parent, tree_last(path), &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(st.st_mode);
}

int tree_whiteout(struct archive_tree *t, const char *path, struct error *err)
{
	const char *last = tree_last(path);
	char target[PATH_MAX];
	int parent;

	if (t->plain || strncmp(last, ".wh.", 4) != 0)
		return 0;
	memcpy(target, path, (size_t)(last - path));
	target[last - path] = '\0';
	if (strncmp(last, ".wh..wh.", 8) == 0) {
		/* The others of these are AUFS's own, and say nothing of the tree. */
		if (!t->is_upper || strcmp(last, ".wh..wh..opq") != 0)
			return 1;
		if (target[0])
			target[strlen(target) - 1] = '\0';
		return make_opaque(t, target, err) < 0 ? -1 : 1;
	}
	if (!last[4] || strcmp(last + 4, ".") == 0 || strcmp(last + 4, "..") == 0)
		return refuse(path, "which marks nothing as removed", err);
	memcpy(target + (last - path), last + 4, strlen(last + 4) + 1);
	if (!t->is_upper)
		return 1;
	/* What this layer has made stays, without what the layers below had in it. */
	if (path_set_has(&t->own, target))
		return is_dir(t, target) && make_opaque(t, target, err) < 0 ? -1 : 1;
	/* What is not there need not go, nor does its directory have to be made. */
	if (tree_parent(t, target, false, &parent, err) < 0)
		return err->sys == ENOENT ? 1 : -1;
	return tree_clear(t, target, err) < 0 ? -1 : 1;
}

/* Names that would tell our own overlays what they are, or a foreign host's security module. */
static bool is_left_out(const char *name)
{
	return str_has_prefix(name, "trusted.") || str_has_prefix(name, "user.overlay.") ||
	       (str_has_prefix(name, "security.") && strcmp(name, "security.capability") != 0) ||
	       str_has_prefix(name, "system.");
}

void tree_xattrs(struct archive_tree *t, int fd, struct archive_entry *e)
{
	const char *name;
	const void *value;
	size_t len;

	if (archive_entry_xattr_reset(e) == 0)
		return;
	while (archive_entry_xattr_next(e, &name, &value, &len) == ARCHIVE_OK)
		if (!name || is_left_out(name) || fsetxattr(fd, name, value, len, 0) < 0)
			t->counts.left_out++;
}

int tree_dress(struct archive_tree *t, int fd, const char *name, struct archive_entry *e,
	struct error *err)
{
	const struct timespec times[2] = {
		{.tv_nsec = UTIME_OMIT}, {archive_entry_mtime(e), archive_entry_mtime_nsec(e)}};
	const char *at = name ? name : "";
	int flags = name ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH;
	mode_t mode = archive_entry_perm(e) & 07777;

	if (t->is_root && fchownat(fd, at, (uid_t)archive_entry_uid(e), (gid_t)archive_entry_gid(e),
				  flags | AT_SYMLINK_NOFOLLOW) < 0)
		return error_sys(err, "give '%.200s' its owner", at);
	/* chown(2) clears capabilities and set-id bits, a mode may forbid attributes: in this
	 * order. Symlinks have no mode. */
	if (!name)
		tree_xattrs(t, fd, e);
	if (!name && fchmod(fd, mode) < 0)
		return error_sys(err, "give a file its mode");
	if (name && archive_entry_filetype(e) != AE_IFLNK && fchmodat(fd, name, mode, 0) < 0)
		return error_sys(err, "give '%.200s' its mode", name);
	if ((name ? utimensat(fd, name, times, AT_SYMLINK_NOFOLLOW) : futimens(fd, times)) < 0)
		return error_sys(err, "give '%.200s' its time", at);
	return 0;
}
