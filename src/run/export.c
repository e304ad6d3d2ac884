/* SPDX-License-Identifier: Apache-2.0 */
/* --out: what the guest wrote, as files of the caller's: see export.h. */
#include "run/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "base/beneath.h"

enum { CHUNK = 128 * 1024 };

/* A directory's time is set when all of its content is there. */
struct dir_time {
	char *path;
	uint64_t mtime_ns;
};

struct exporting {
	const struct tree_source *s;
	int out;
	struct export_counts *counts;
	unsigned char *buf;
	struct dir_time *dirs;
	size_t dir_count;
};

int export_check(const char *dir, struct error *err)
{
	autoclose int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_names struct beneath_names names = {0};

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return error_sys(err, "--out '%.300s'", dir);
	if (beneath_list(fd, 1, &names, err) < 0 || names.count > 0)
		return error_set(err, ERR_USAGE,
			"--out '%.300s' is not empty; name a new or empty directory", dir);
	return 0;
}

static void set_time(int dir, const char *path, uint64_t ns)
{
	struct timespec times[2] = {
		{.tv_nsec = UTIME_OMIT}, {(time_t)(ns / 1000000000), (long)(ns % 1000000000)}};

	/* A file system without such times loses nothing that was promised. */
	(void)!utimensat(dir, path, times, AT_SYMLINK_NOFOLLOW);
}

static void exporting_finish(struct exporting *x)
{
	for (size_t i = 0; i < x->dir_count; i++)
		free(x->dirs[i].path);
	free(x->dirs);
}

static void remember_dir(struct exporting *x, const struct tree_entry *e)
{
	x->dirs = mem_grow(x->dirs, x->dir_count + 1, sizeof(*x->dirs));
	x->dirs[x->dir_count++] = (struct dir_time){mem_strdup(e->path), e->mtime_ns};
}

/* The directory of a path below out, its parents made: a descriptor, or -1. */
static int open_parent(int out, const char *path, struct error *err)
{
	autoclose int at = fcntl(out, F_DUPFD_CLOEXEC, 3);

	for (const char *slash; at >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
		autofree char *name = mem_strndup(path, (size_t)(slash - path));
		int next;

		if (mkdirat(at, name, 0755) < 0 && errno != EEXIST)
			return error_sys(err, "create directory '%.200s'", name);
		next = beneath_open(at, name, O_RDONLY | O_DIRECTORY, 0);
		fd_close(&at);
		at = next;
	}
	if (at < 0)
		return error_sys(err, "open a directory of the output");
	return take_fd(at);
}

static int copy_range(struct exporting *x, int from, int to, off_t at, off_t end, struct error *err)
{
	while (at < end) {
		size_t part = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
		ssize_t n = pread(from, x->buf, part, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "read");
		if (n == 0)
			break;
		for (ssize_t done = 0; done < n;) {
			ssize_t w = pwrite(to, x->buf + done, (size_t)(n - done), at + done);

			if (w < 0 && errno != EINTR)
				return error_sys(err, "write");
			done += w > 0 ? w : 0;
		}
		x->counts->bytes += (uint64_t)n;
		at += n;
	}
	return 0;
}

static int copy_content(struct exporting *x, int from, int to, off_t size, struct error *err)
{
	for (off_t at = 0; at < size;) {
		off_t data = lseek(from, at, SEEK_DATA), end;

		if (data < 0 && errno == ENXIO)
			break;
		end = data < 0 ? data : lseek(from, data, SEEK_HOLE);
		if (end < 0)
			return error_sys(err, "seek");
		if (copy_range(x, from, to, data, end < size ? end : size, err) < 0)
			return -1;
		at = end;
	}
	return ftruncate(to, size) < 0 ? error_sys(err, "set the size") : 0;
}

static int export_file(
	struct exporting *x, const struct tree_entry *e, int parent, struct error *err)
{
	autoclose int to = -1;
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}};

	to = beneath_open(parent, e->name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (to < 0)
		return error_sys(err, "create");
	if (copy_content(x, e->fd, to, e->st.st_size, err) < 0)
		return -1;
	times[1] = (struct timespec){
		(time_t)(e->mtime_ns / 1000000000), (long)(e->mtime_ns % 1000000000)};
	/* The owner can always read and remove what came out; set-id and sticky bits stay behind.
	 */
	if (fchmod(to, (e->st.st_mode & 0777) | 0400) < 0 ||
		(x->s->has_times && futimens(to, times) < 0))
		return error_sys(err, "set mode and time");
	x->counts->files++;
	return 0;
}

static int export_entry(struct exporting *x, const struct tree_entry *e, struct error *err)
{
	autoclose int parent = -1;

	if (e->type == TREE_DELETED) {
		x->counts->deleted++;
		return 0;
	}
	if (e->type > TREE_DELETED) {
		x->counts->skipped++;
		return 0;
	}
	parent = open_parent(x->out, e->path, err);
	if (parent < 0)
		return -1;
	if (e->type == TREE_FILE)
		return export_file(x, e, parent, err);
	if (e->type == TREE_SYMLINK && (!e->target || symlinkat(e->target, parent, e->name) < 0))
		return error_sys(err, "create symlink");
	if (e->type == TREE_SYMLINK && x->s->has_times)
		set_time(parent, e->name, e->mtime_ns);
	if (e->type == TREE_DIRECTORY)
		remember_dir(x, e);
	if (e->type == TREE_DIRECTORY &&
		mkdirat(parent, e->name, (e->st.st_mode & 0777) | 0700) < 0 && errno != EEXIST)
		return error_sys(err, "create directory");
	return 0;
}

static int visit(void *context, const struct tree_entry *e, struct error *err)
{
	autofree char *safe = NULL;

	if (export_entry(context, e, err) == 0)
		return 0;
	safe = str_printable(e->path, strlen(e->path), 100);
	return error_wrap(err, "'%s'", safe);
}

/* Empties a directory that we filled; stops at what it cannot remove. */
static void empty(int dir, unsigned depth)
{
	auto_names struct beneath_names names = {0};

	if (depth > TREE_DEPTH_MAX || beneath_list(dir, TREE_ENTRIES_MAX, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		autoclose int below = -1;

		if (unlinkat(dir, names.items[i], 0) == 0)
			continue;
		below = beneath_open(dir, names.items[i], O_RDONLY | O_DIRECTORY, 0);
		if (below < 0)
			continue;
		empty(below, depth + 1);
		unlinkat(dir, names.items[i], AT_REMOVEDIR);
	}
}

int export_tree(
	const struct tree_source *s, const char *dir, struct export_counts *ret, struct error *err)
{
	autofree unsigned char *buf = mem_alloc(CHUNK);
	struct export_counts counts = {0};
	struct exporting CLEANUP(exporting_finish) x = {.s = s, .counts = &counts, .buf = buf};
	bool made = mkdir(dir, 0755) == 0;
	autoclose int out = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (out < 0)
		return error_sys(err, "--out '%.300s'", dir);
	if (!made && export_check(dir, err) < 0)
		return -1;
	x.out = out;
	if (tree_walk(s, visit, &x, err) < 0) {
		empty(out, 0);
		if (made)
			rmdir(dir);
		return error_wrap(err, "--out '%.200s': nothing was kept", dir);
	}
	/* The deepest first: they came after what holds them. */
	for (size_t i = x.dir_count; i > 0 && s->has_times; i--) {
		autofree char *name = mem_strdup(path_basename(x.dirs[i - 1].path));
		autoclose int parent = open_parent(out, x.dirs[i - 1].path, NULL);

		if (parent >= 0)
			set_time(parent, name, x.dirs[i - 1].mtime_ns);
	}
	*ret = counts;
	return 0;
}
