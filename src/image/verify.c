/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an image is what its digests say: see image.h. What was unpacked has no digest of its
 * own, so the layers are laid once more and the two trees compared.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/remove.h"
#include "base/str.h"
#include "image/inside.h"

enum { NAMES_MAX = 10000000, CHUNK = 65536 };

static int differs(const char *path, struct error *err)
{
	autofree char *shown = str_printable(path, strlen(path), 200);

	return error_set(err, ERR_TAMPERED,
		"the unpacked file '/%s' is not as its layer has it; all of it was taken away and "
		"is "
		"unpacked again at the next use",
		shown);
}

static int same_bytes(int a, int b, const char *path, struct error *err)
{
	autofree char *x = mem_alloc(CHUNK), *y = mem_alloc(CHUNK);

	for (;;) {
		ssize_t m = read(a, x, CHUNK), n = read(b, y, CHUNK);

		if (m < 0 || n < 0)
			return error_sys(err, "read '%.200s'", path);
		if (m != n || memcmp(x, y, (size_t)m) != 0)
			return differs(path, err);
		if (m == 0)
			return 0;
	}
}

static int same_link(int a, int b, const char *name, const char *path, struct error *err)
{
	char x[PATH_MAX], y[PATH_MAX];
	ssize_t m = readlinkat(a, name, x, sizeof(x)), n = readlinkat(b, name, y, sizeof(y));

	if (m < 0 || n < 0)
		return error_sys(err, "read the symlink '%.200s'", path);
	return m == n && memcmp(x, y, (size_t)m) == 0 ? 0 : differs(path, err);
}

static int same_dir(int a, int b, const char *path, struct error *err);

static int same_entry(int a, int b, const char *name, const char *path, struct error *err)
{
	autoclose int x = -1, y = -1;
	struct stat s, t;
	int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

	if (fstatat(a, name, &s, AT_SYMLINK_NOFOLLOW) < 0 ||
		fstatat(b, name, &t, AT_SYMLINK_NOFOLLOW) < 0)
		return error_sys(err, "stat '%.200s'", path);
	if (s.st_mode != t.st_mode || s.st_uid != t.st_uid || s.st_gid != t.st_gid ||
		s.st_rdev != t.st_rdev || s.st_mtim.tv_sec != t.st_mtim.tv_sec ||
		s.st_mtim.tv_nsec != t.st_mtim.tv_nsec ||
		(!S_ISDIR(s.st_mode) && (s.st_size != t.st_size || s.st_nlink != t.st_nlink)))
		return differs(path, err);
	if (S_ISLNK(s.st_mode))
		return same_link(a, b, name, path, err);
	if (!S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode))
		return 0;
	x = openat(a, name, flags);
	y = openat(b, name, flags);
	/* A mode that keeps its own owner out; what it has was compared but for its content. */
	if (x < 0 || y < 0)
		return errno == EACCES ? 0 : error_sys(err, "open '%.200s'", path);
	return S_ISDIR(s.st_mode) ? same_dir(x, y, path, err) : same_bytes(x, y, path, err);
}

static int same_dir(int a, int b, const char *path, struct error *err)
{
	auto_names struct beneath_names x = {0}, y = {0};

	if (beneath_list(a, NAMES_MAX, &x, err) < 0 || beneath_list(b, NAMES_MAX, &y, err) < 0)
		return -1;
	for (size_t i = 0; i < x.count || i < y.count; i++) {
		const char *name = i < x.count ? x.items[i] : y.items[i];
		autofree char *below = path[0] ? str_format("%s/%s", path, name) : mem_strdup(name);

		if (i >= x.count || i >= y.count || strcmp(x.items[i], y.items[i]) != 0)
			return differs(below, err);
		if (same_entry(a, b, name, below, err) < 0)
			return -1;
	}
	return 0;
}

/* Every part by its digest, the contents of layers too. */
static int check_parts(struct images *s, const struct image *i, struct error *err)
{
	for (size_t n = 0; n < i->manifest.layer_count; n++) {
		auto_image_stream struct image_stream *stream = NULL;
		struct archive_input in;
		char diff[DIGEST_TEXT];

		if (image_stream_open(s, i->manifest.layers[n].digest, true, &stream, err) < 0)
			return error_wrap(err, "layer %.19s", i->manifest.layers[n].digest);
		in = image_stream_input(stream);
		if (archive_look(&in, UINT64_MAX / 2, err) < 0)
			return error_wrap(err, "layer %.19s", i->manifest.layers[n].digest);
		digest_text(stream->diff, diff);
		if (strcmp(diff, i->config.diff_ids[n]) != 0)
			return error_set(err, ERR_TAMPERED,
				"layer %.19s unpacks to %s, and the config says %s",
				i->manifest.layers[n].digest, diff, i->config.diff_ids[n]);
	}
	return 0;
}

static int compare_root(
	struct images *s, struct image *i, const struct cas_progress *progress, struct error *err)
{
	auto_making struct making m = {.s = s, .fd = -1};
	autofree char *there = str_format("roots/%s/root", image_hex(i->chain));
	autoclose int is = -1, root = openat(s->dir, there, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct archive_counts counts;
	struct stat a, b;

	if (root < 0)
		return error_sys(err, "open '%s/%s'", s->path, there);
	if (images_tmp_make(s, m.name, &m.fd, err) < 0)
		return -1;
	if (mkdirat(m.fd, "root", 0700) < 0)
		return error_sys(err, "make the directory to unpack into");
	is = openat(m.fd, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (is < 0)
		return error_sys(err, "open the directory to unpack into");
	if (image_lay(s, i, is, progress, &counts, err) < 0)
		return -1;
	if (fstat(root, &a) < 0 || fstat(is, &b) < 0)
		return error_sys(err, "stat the roots");
	if (a.st_mode != b.st_mode || a.st_mtim.tv_sec != b.st_mtim.tv_sec)
		return differs("", err);
	return same_dir(root, is, "", err);
}

int image_verify(
	struct images *s, struct image *i, const struct cas_progress *progress, struct error *err)
{
	autofree char *lock_name = str_format("roots/%s.lock", image_hex(i->chain));
	autoclose int roots = -1, lock = -1;
	int r;

	if (images_dir(s, "roots", &roots, err) < 0)
		return -1;
	if (!image_is_unpacked(s, i))
		return check_parts(s, i, err);
	if (images_lock(s, lock_name, LOCK_SH, &lock, err) < 0)
		return -1;
	r = compare_root(s, i, progress, err);
	if (r < 0 && strncmp(err->msg, "the unpacked file", 17) == 0) {
		struct error why;

		/* Not under the feet of a run. */
		fd_close(&lock);
		if (images_lock(s, lock_name, LOCK_EX | LOCK_NB, &lock, &why) == 0)
			(void)!remove_tree(roots, image_hex(i->chain), &why);
	}
	return r;
}
