/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory as a tar stream, and what a tar file is: see archive.h. Entries are sorted by name
 * and say nothing of the host but the numbers of owners, so that one tree has one stream.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "image/stream.h"

enum { NAMES_MAX = 10000000, DEPTH_MAX = 1000, XATTRS_MAX = 64 * 1024, CHUNK = 256 * 1024 };

/* A file that has several names: later ones are hard links to the first. */
struct linked {
	dev_t dev;
	ino_t ino;
	char *path;
};

struct pack {
	struct archive *out;
	const struct archive_bounds *bounds;
	struct archive_counts counts;
	struct linked *links;
	size_t link_count, link_room;
	char *buffer;
};

static void pack_finish(struct pack *p)
{
	archive_write_free(p->out);
	for (size_t i = 0; i < p->link_count; i++)
		free(p->links[i].path);
	free(p->links);
	free(p->buffer);
}

static void entry_free(struct archive_entry **e)
{
	archive_entry_free(*e);
}

/* The path under which the file was packed already, else it is remembered. */
static const char *known_link(struct pack *p, const struct stat *st, const char *path)
{
	for (size_t i = 0; i < p->link_count; i++)
		if (p->links[i].ino == st->st_ino && p->links[i].dev == st->st_dev)
			return p->links[i].path;
	if (p->link_count == p->link_room) {
		p->link_room = p->link_room * 2 + 64;
		p->links = mem_grow(p->links, p->link_room, sizeof(*p->links));
	}
	p->links[p->link_count++] = (struct linked){st->st_dev, st->st_ino, mem_strdup(path)};
	return NULL;
}

/* flistxattr(2) gives them in the file system's order. */
static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_xattrs(struct archive_entry *e, int fd)
{
	autofree char *list = mem_alloc(XATTRS_MAX), *value = mem_alloc(XATTRS_MAX);
	ssize_t len = flistxattr(fd, list, XATTRS_MAX - 1), size;
	autofree char **names = NULL;
	size_t count = 0;

	for (const char *name = list; len > 0 && name < list + len; name += strlen(name) + 1)
		count++;
	names = mem_array(count + 1, sizeof(*names));
	count = 0;
	for (char *name = list; len > 0 && name < list + len; name += strlen(name) + 1)
		if (str_has_prefix(name, "user.") || strcmp(name, "security.capability") == 0)
			names[count++] = name;
	if (count > 0)
		qsort(names, count, sizeof(*names), by_text);
	for (size_t i = 0; i < count; i++)
		if ((size = fgetxattr(fd, names[i], value, XATTRS_MAX)) >= 0)
			archive_entry_xattr_add_entry(e, names[i], value, (size_t)size);
}

static int put_header(struct pack *p, struct archive_entry *e, struct error *err)
{
	if (archive_write_header(p->out, e) < ARCHIVE_WARN)
		return stream_fail(p->out, "pack a directory", err);
	return 0;
}

static int put_file(struct pack *p, int fd, uint64_t size, const char *path, struct error *err)
{
	while (size > 0) {
		ssize_t got = read(fd, p->buffer, size < CHUNK ? (size_t)size : CHUNK);

		if (got < 0)
			return error_sys(err, "read '%.200s'", path);
		if (got == 0)
			return error_set(err, ERR_BUSY, "'%.200s' shrank while it was read", path);
		if (archive_write_data(p->out, p->buffer, (size_t)got) < 0)
			return stream_fail(p->out, "pack a directory", err);
		size -= (uint64_t)got;
	}
	return 0;
}

static int count(struct pack *p, const struct stat *st, struct error *err)
{
	uint64_t size = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0;

	if (++p->counts.entries > p->bounds->entries)
		return error_set(err, ERR_LIMIT,
			"it has more than the limit of %" PRIu64 " entries", p->bounds->entries);
	if (size > p->bounds->bytes - p->counts.bytes)
		return error_set(err, ERR_LIMIT,
			"it has more than the limit of %" PRIu64 " bytes; --max-size allows more",
			p->bounds->bytes);
	p->counts.bytes += size;
	return 0;
}

static int pack_dir(struct pack *p, int dir, const char *path, int depth, struct error *err);

/* One name of a directory; path is its own, from the root of the tree. */
static int pack_one(
	struct pack *p, int dir, const char *name, const char *path, int depth, struct error *err)
{
	struct archive_entry CLEANUP(entry_free) *e = archive_entry_new();
	char target[PATH_MAX];
	autoclose int fd = -1;
	const char *link;
	struct stat st;
	ssize_t len;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return error_sys(err, "stat '%.200s'", path);
	if (S_ISSOCK(st.st_mode))
		return 0;
	if (count(p, &st, err) < 0)
		return -1;
	archive_entry_copy_pathname(e, path);
	archive_entry_set_mode(e, st.st_mode);
	archive_entry_set_uid(e, st.st_uid);
	archive_entry_set_gid(e, st.st_gid);
	archive_entry_set_mtime(e, st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
		archive_entry_set_rdev(e, st.st_rdev);
	if (!S_ISDIR(st.st_mode) && st.st_nlink > 1 && (link = known_link(p, &st, path))) {
		archive_entry_copy_hardlink(e, link);
		return put_header(p, e, err);
	}
	if (S_ISLNK(st.st_mode)) {
		len = readlinkat(dir, name, target, sizeof(target) - 1);
		if (len < 0)
			return error_sys(err, "read the symlink '%.200s'", path);
		target[len] = '\0';
		archive_entry_copy_symlink(e, target);
	}
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return put_header(p, e, err);
	fd = openat(dir, name,
		O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC |
			(S_ISDIR(st.st_mode) ? O_DIRECTORY : 0));
	if (fd < 0)
		return error_sys(err, "open '%.200s'", path);
	add_xattrs(e, fd);
	archive_entry_set_size(e, S_ISREG(st.st_mode) ? st.st_size : 0);
	if (put_header(p, e, err) < 0)
		return -1;
	return S_ISDIR(st.st_mode) ? pack_dir(p, fd, path, depth + 1, err)
				   : put_file(p, fd, (uint64_t)st.st_size, path, err);
}

static int pack_dir(struct pack *p, int dir, const char *path, int depth, struct error *err)
{
	auto_names struct beneath_names names = {0};

	if (depth > DEPTH_MAX)
		return error_set(err, ERR_LIMIT, "directories deeper than %d", DEPTH_MAX);
	if (beneath_list(dir, NAMES_MAX, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		autofree char *below = path[0] ? str_format("%s/%s", path, names.items[i])
					       : mem_strdup(names.items[i]);

		if (pack_one(p, dir, names.items[i], below, depth, err) < 0)
			return -1;
	}
	return 0;
}

int archive_pack(int dir, int fd, const struct archive_bounds *bounds, struct error *err)
{
	struct pack CLEANUP(pack_finish)
		p = {.out = archive_write_new(), .bounds = bounds, .buffer = mem_alloc(CHUNK)};

	/* GNU's headers take names of any bytes as they are; pax where times or attributes ask. */
	archive_write_set_format_pax_restricted(p.out);
	archive_write_set_options(p.out, "hdrcharset=BINARY");
	archive_write_add_filter_none(p.out);
	if (archive_write_open_fd(p.out, fd) != ARCHIVE_OK)
		return stream_fail(p.out, "pack a directory", err);
	if (pack_dir(&p, dir, "", 0, err) < 0)
		return -1;
	return archive_write_close(p.out) == ARCHIVE_OK
		       ? 0
		       : stream_fail(p.out, "pack a directory", err);
}

static void reader_free(struct archive **a)
{
	archive_read_free(*a);
}

int archive_guess(int fd, enum archive_kind *ret, struct error *err)
{
	struct archive CLEANUP(reader_free) *a = archive_read_new();
	bool has_layout = false, has_manifest = false;
	struct archive_entry *e;
	int r;

	archive_read_support_filter_all(a);
	archive_read_support_format_tar(a);
	r = archive_read_open_fd(a, fd, CHUNK);
	for (unsigned i = 0; r == ARCHIVE_OK || r == ARCHIVE_WARN; i++) {
		const char *name;

		r = archive_read_next_header(a, &e);
		if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
			break;
		name = archive_entry_pathname(e);
		while (name && str_has_prefix(name, "./"))
			name += 2;
		has_layout = has_layout || (name && strcmp(name, "oci-layout") == 0);
		has_manifest = has_manifest || (name && strcmp(name, "manifest.json") == 0);
		/* An archive of an image has few entries, and none like these. */
		if (name && (str_has_prefix(name, "etc/") || str_has_prefix(name, "usr/") ||
				    str_has_prefix(name, "bin/")))
			break;
	}
	if (r != ARCHIVE_EOF && r != ARCHIVE_OK && r != ARCHIVE_WARN)
		return stream_fail(a, "it is no tar, or a damaged one", err);
	*ret = has_layout ? ARCHIVE_OCI : has_manifest ? ARCHIVE_DOCKER : ARCHIVE_PLAIN;
	return lseek(fd, 0, SEEK_SET) < 0 ? error_sys(err, "seek in the archive") : 0;
}
