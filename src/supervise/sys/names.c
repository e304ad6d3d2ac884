/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that change names, modes and owners. Enter finds the files and their directories and holds
 * them; leave, if the kernel did it, notes the instant of the change for the logical clock.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "supervise/files/files.h"
#include "supervise/files/ftime.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/files/known.h"
#include "supervise/engine/note.h"
#include "supervise/files/path.h"
#include "supervise/files/shared.h"

/* Finds the file (when `file` is given) and the directory of a path. False: the call fails anyway.
 */
static bool find_both(struct task *t, int dirfd, uint64_t addr, struct path *file,
	struct path *parent, char last[NAME_MAX + 1])
{
	char text[PATH_MAX];

	if (gmem_read_string(t, addr, text, sizeof(text)) <= 0)
		return false;
	if (file != NULL && path_find_text(t, dirfd, text, PATH_NOFOLLOW, file) == PATH_ODD)
		path_finish(file);
	return path_find_parent(t, dirfd, text, parent, last) == PATH_FOUND;
}

/* The call is about to change names: the note is kept for the leave handler if all were found. */
static enum act changes_names(struct note *n, bool found)
{
	known_forget(); /* what was looked up just now too */
	if (found)
		return ACT_LEAVE;
	note_free(n);
	return ACT_NATIVE;
}

/* A file that the call is about: noted, and the kernel does it. */
static enum act note_file(struct task *t, int dirfd, uint64_t addr, unsigned flags)
{
	struct note *n = note_new(t);

	if (path_find(t, dirfd, addr, flags, &n->file) == PATH_FOUND)
		return ACT_LEAVE;
	note_free(n);
	return ACT_NATIVE;
}

static void directory_changed(struct path *dir)
{
	const struct statx before = dir->stx;

	shared_check(dir->fd);
	if (path_stat(dir) == 0 && dir->kind == FS_PLAIN)
		ftime_changed(dir->fd, &dir->stx, &before, FTIME_MTIME | FTIME_CTIME);
}

/* The file itself: it lost its last name, or its inode changed. */
static void file_changed(struct path *file, int what)
{
	const struct statx before = file->stx;

	if (file->fd < 0 || path_stat(file) != 0 || file->kind != FS_PLAIN)
		return;
	if (file->stx.stx_nlink == 0 || (S_ISDIR(file->stx.stx_mode) && what == 0))
		ftime_gone(&before);
	else
		ftime_changed(file->fd, &file->stx, &before, what == 0 ? FTIME_CTIME : what);
}

static enum act note_removal(struct task *t, int dirfd, uint64_t addr)
{
	struct note *n = note_new(t);

	if (find_both(t, dirfd, addr, &n->file, &n->parent, n->name))
		return ACT_LEAVE;
	note_free(n);
	return ACT_NATIVE;
}

enum act enter_unlink(struct task *t, struct call *c)
{
	return note_removal(t, AT_FDCWD, c->arg[0]);
}

enum act enter_unlinkat(struct task *t, struct call *c)
{
	return note_removal(t, (int)c->arg[0], c->arg[1]);
}

void leave_unlink(struct task *t, struct call *c)
{
	struct note *n = note_find(t);

	if (n == NULL)
		return;
	if (c->result == 0) {
		directory_changed(&n->parent);
		file_changed(&n->file, 0);
	}
	note_free(n);
}

/* mkdir, mknod, symlink: a new file in a directory. */
static enum act note_creation(struct task *t, int dirfd, uint64_t addr)
{
	struct note *n = note_new(t);

	return changes_names(n, find_both(t, dirfd, addr, NULL, &n->parent, n->name));
}

enum act files_making(struct task *t, const char *text)
{
	struct note *n = note_new(t);

	return changes_names(
		n, path_find_parent(t, AT_FDCWD, text, &n->parent, n->name) == PATH_FOUND);
}

enum act enter_mkdir(struct task *t, struct call *c)
{
	return note_creation(t, AT_FDCWD, c->arg[0]);
}

enum act enter_mkdirat(struct task *t, struct call *c)
{
	return note_creation(t, (int)c->arg[0], c->arg[1]);
}

enum act enter_symlink(struct task *t, struct call *c)
{
	return note_creation(t, AT_FDCWD, c->arg[1]);
}

enum act enter_symlinkat(struct task *t, struct call *c)
{
	return note_creation(t, (int)c->arg[1], c->arg[2]);
}

void leave_mkdir(struct task *t, struct call *c)
{
	struct note *n = note_find(t);
	auto_path struct path made = PATH_NONE;

	if (n == NULL)
		return;
	if (c->result == 0) {
		directory_changed(&n->parent);
		made.fd = openat(n->parent.fd, n->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (made.fd >= 0 && path_stat(&made) == 0)
			ftime_changed(made.fd, &made.stx, NULL, FTIME_CREATED);
	}
	note_free(n);
}

static enum act note_link(
	struct task *t, int dirfd, uint64_t addr, int to_dirfd, uint64_t to_addr, unsigned flags)
{
	struct note *n = note_new(t);

	return changes_names(n, path_find(t, dirfd, addr, flags, &n->file) == PATH_FOUND &&
					find_both(t, to_dirfd, to_addr, NULL, &n->parent, n->name));
}

enum act enter_link(struct task *t, struct call *c)
{
	return note_link(t, AT_FDCWD, c->arg[0], AT_FDCWD, c->arg[1], PATH_NOFOLLOW);
}

enum act enter_linkat(struct task *t, struct call *c)
{
	unsigned flags = c->arg[4] & AT_SYMLINK_FOLLOW ? 0 : PATH_NOFOLLOW;

	if (c->arg[4] & AT_EMPTY_PATH)
		flags |= PATH_EMPTY;
	return note_link(t, (int)c->arg[0], c->arg[1], (int)c->arg[2], c->arg[3], flags);
}

static enum act note_rename(
	struct task *t, int dirfd, uint64_t addr, int to_dirfd, uint64_t to_addr)
{
	struct note *n = note_new(t);

	return changes_names(
		n, find_both(t, dirfd, addr, &n->file, &n->parent, n->name) &&
			   find_both(t, to_dirfd, to_addr, &n->other, &n->other_parent, n->name));
}

enum act enter_rename(struct task *t, struct call *c)
{
	return note_rename(t, AT_FDCWD, c->arg[0], AT_FDCWD, c->arg[1]);
}

enum act enter_renameat(struct task *t, struct call *c)
{
	return note_rename(t, (int)c->arg[0], c->arg[1], (int)c->arg[2], c->arg[3]);
}

static bool is_same(const struct path *a, const struct path *b)
{
	return a->fd >= 0 && b->fd >= 0 && a->stx.stx_ino == b->stx.stx_ino &&
	       a->stx.stx_dev_minor == b->stx.stx_dev_minor &&
	       a->stx.stx_dev_major == b->stx.stx_dev_major;
}

void leave_rename(struct task *t, struct call *c)
{
	struct note *n = note_find(t);

	if (n == NULL)
		return;
	/* rename(2): between two names of one file nothing happens. */
	if (c->result == 0 && !is_same(&n->file, &n->other)) {
		directory_changed(&n->parent);
		directory_changed(&n->other_parent);
		file_changed(&n->file, FTIME_CTIME);
		file_changed(&n->other, 0);
	}
	note_free(n);
}

void leave_link(struct task *t, struct call *c)
{
	struct note *n = note_find(t);

	if (n == NULL)
		return;
	if (c->result == 0) {
		directory_changed(&n->parent);
		file_changed(&n->file, FTIME_CTIME);
	}
	note_free(n);
}

/* chmod, chown, xattrs: by path, by path without following, by descriptor. */
enum act enter_attribute(struct task *t, struct call *c)
{
	return note_file(t, AT_FDCWD, c->arg[0], 0);
}

enum act enter_lattribute(struct task *t, struct call *c)
{
	return note_file(t, AT_FDCWD, c->arg[0], PATH_NOFOLLOW);
}

enum act enter_fattribute(struct task *t, struct call *c)
{
	struct note *n = note_new(t);

	if ((int)c->arg[0] >= 0 && path_find_fd(t, (int)c->arg[0], &n->file) == PATH_FOUND)
		return ACT_LEAVE;
	note_free(n);
	return ACT_NATIVE;
}

enum act enter_fchmodat(struct task *t, struct call *c)
{
	return note_file(t, (int)c->arg[0], c->arg[1], 0);
}

enum act enter_fchownat(struct task *t, struct call *c)
{
	return note_file(t, (int)c->arg[0], c->arg[1],
		(c->arg[4] & AT_SYMLINK_NOFOLLOW ? PATH_NOFOLLOW : 0) |
			(c->arg[4] & AT_EMPTY_PATH ? PATH_EMPTY : 0));
}

static void leave_changed(struct task *t, struct call *c, int what)
{
	struct note *n = note_find(t);

	if (n == NULL)
		return;
	if (c->result == 0) {
		shared_check(n->file.fd);
		file_changed(&n->file, what);
	}
	note_free(n);
}

void leave_attribute(struct task *t, struct call *c)
{
	leave_changed(t, c, FTIME_CTIME);
}

void leave_truncate(struct task *t, struct call *c)
{
	leave_changed(t, c, FTIME_MTIME | FTIME_CTIME);
}
