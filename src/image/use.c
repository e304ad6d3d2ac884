/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An image as a directory: see image.h.
 *
 * How it works. It is unpacked into a directory of tmp/, which is renamed to roots/HEX when all is
 * there and every layer had its digest; so what is in roots/ is whole, whoever is killed. A lock a
 * root: whoever uses it holds it shared, whoever makes or removes it exclusively. Files are not
 * synced one by one, which would take longer than to write them; instead made.json tells which boot
 * of the machine they were made in, and a root that is younger than what a kernel keeps in memory
 * and was made before the machine went down is made again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/remove.h"
#include "base/str.h"
#include "codec/json.h"
#include "image/inside.h"

enum { MADE_MAX = 65536, BOOT_SIZE = 64, SETTLED_AFTER_S = 120 };

/* The id of this boot; "" where there is none to be read, which equals no other. */
static void read_boot(char ret[BOOT_SIZE])
{
	autoclose int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? 0 : read(fd, ret, BOOT_SIZE - 1);

	ret[len > 0 ? len : 0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

/* Whether what was written has reached the disk: synced, now or before. */
static bool is_durable(int root, const json_t *made, const struct stat *st)
{
	const char *then = json_string_value(json_object_get(made, "boot"));
	char now[BOOT_SIZE];

	if (faccessat(root, "settled", F_OK, 0) == 0)
		return true;
	read_boot(now);
	if (!then || !*now || strcmp(then, now) != 0)
		return false;
	/* By now the kernel has written nearly all of it by itself: what is left takes no time. */
	if (clock_host_real_ns() / NUM_SECOND_NS > (uint64_t)st->st_mtim.tv_sec + SETTLED_AFTER_S &&
		syncfs(root) == 0) {
		autoclose int fd = openat(root, "settled", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

		if (fd >= 0)
			(void)!fsync(fd);
	}
	return true;
}

/* 1: there is an unpacked root that can be used. */
static int find_root(const struct images *s, const char *hex, struct error *err)
{
	autofree char *path = str_format("roots/%s", hex), *text = NULL;
	autoclose int root = openat(s->dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	autoclose int fd = -1;
	auto_json json_t *made = NULL;
	struct stat st;
	size_t len;

	if (root < 0)
		return errno == ENOENT ? 0 : error_sys(err, "open '%s/%s'", s->path, path);
	fd = beneath_open_file(root, "made.json", &st);
	if (fd < 0 || fd_slurp(fd, MADE_MAX, &text, &len, err) < 0 ||
		json_read(text, len, MADE_MAX, &made, err) < 0)
		return 0;
	return is_durable(root, made, &st);
}

static int write_made(
	int dir, const struct image *i, const struct archive_counts *counts, struct error *err)
{
	auto_json json_t *o = json_object();
	autofree char *text = NULL;
	char boot[BOOT_SIZE];
	autoclose int fd = openat(dir, "made.json", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	read_boot(boot);
	json_put(o, "format", json_str("sandglass.image.root/1"));
	json_put(o, "boot", json_str(boot));
	json_put(o, "chain", json_str(i->chain));
	json_put(o, "entries", json_u64(counts->entries));
	json_put(o, "bytes", json_u64(counts->bytes));
	json_put(o, "left_out", json_u64(counts->left_out));
	text = json_text(o);
	if (fd < 0)
		return error_sys(err, "make 'made.json'");
	return fd_write_all(fd, text, strlen(text), err);
}

static int lay_one(struct images *s, struct archive_tree *tree, const struct image *i, size_t n,
	const struct cas_progress *progress, struct error *err)
{
	const char *digest = i->manifest.layers[n].digest, *diff = i->config.diff_ids[n];
	auto_image_stream struct image_stream *stream = NULL;
	struct archive_input in;
	char is[DIGEST_TEXT];
	/* A layer that is stored as it is has been hashed by the store when it ends. */
	bool is_plain = strcmp(digest, diff) == 0;

	if (image_stream_open(s, digest, !is_plain, &stream, err) < 0)
		return err->code == ERR_MISSING
			       ? error_set(err, ERR_MISSING, "layer %s is not in the store", digest)
			       : -1;
	stream->progress = progress;
	in = image_stream_input(stream);
	if (archive_apply(tree, &in, false, err) < 0)
		return error_wrap(err, "layer %.19s", digest);
	if (is_plain)
		return 0;
	digest_text(stream->diff, is);
	if (strcmp(is, diff) != 0)
		return error_set(err, ERR_TAMPERED,
			"layer %.19s unpacks to %s, and the config says %s", digest, is, diff);
	return 0;
}

/* Closed before the counts are looked at. */
static void tree_close(struct archive_tree **t)
{
	archive_tree_close(*t);
}

static int lay_bounded(struct images *s, const struct image *i, int dir, uint64_t max_bytes,
	const struct cas_progress *progress, struct archive_counts *ret, struct error *err)
{
	const struct archive_bounds bounds = {max_bytes, IMAGE_ENTRIES_MAX};
	struct archive_tree CLEANUP(tree_close) *tree = NULL;

	if (archive_tree_open(dir, &bounds, &tree, err) < 0)
		return -1;
	for (size_t n = 0; n < i->manifest.layer_count; n++)
		if (lay_one(s, tree, i, n, progress, err) < 0)
			return -1;
	return archive_settle(tree, ret, err);
}

int image_lay(struct images *s, const struct image *i, int dir, const struct cas_progress *progress,
	struct archive_counts *ret, struct error *err)
{
	return lay_bounded(s, i, dir, UINT64_MAX / 2, progress, ret, err);
}

void making_drop(struct making *m)
{
	autoclose int tmp = -1;
	struct error err;

	if (m->fd < 0)
		return;
	if (images_dir(m->s, "tmp", &tmp, &err) == 0)
		(void)!remove_tree(tmp, m->name, &err);
	fd_close(&m->fd);
}

static int make_root(struct images *s, struct image *i, uint64_t max_bytes,
	const struct cas_progress *progress, struct error *err)
{
	auto_making struct making m = {.s = s, .fd = -1};
	autofree char *from = NULL, *to = str_format("roots/%s", image_hex(i->chain));
	struct archive_counts counts = {0};
	autoclose int root = -1, roots = -1;

	if (images_dir(s, "roots", &roots, err) < 0 ||
		remove_tree(roots, image_hex(i->chain), err) < 0 ||
		images_tmp_make(s, m.name, &m.fd, err) < 0)
		return -1;
	if (mkdirat(m.fd, "root", 0700) < 0)
		return error_sys(err, "make the directory to unpack into");
	root = openat(m.fd, "root", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (root < 0)
		return error_sys(err, "open the directory to unpack into");
	if (lay_bounded(s, i, root, max_bytes, progress, &counts, err) < 0 ||
		write_made(m.fd, i, &counts, err) < 0)
		return error_wrap(err, "unpack the image");
	from = str_format("tmp/%s", m.name);
	if (fault_point("image: rename a root") < 0 || renameat(s->dir, from, s->dir, to) < 0)
		return error_sys(err, "put the unpacked image in its place");
	fd_close(&m.fd);
	i->unpacked_entries = counts.entries;
	i->left_out = counts.left_out;
	return 0;
}

int image_check_platform(const struct image *i, struct error *err)
{
	const char *os = i->config.os ? i->config.os : "linux",
		   *arch = i->config.architecture ? i->config.architecture : image_architecture();
	autofree char *shown = NULL;

	if (strcmp(os, "linux") == 0 && strcmp(arch, image_architecture()) == 0)
		return 0;
	shown = str_printable(arch, strlen(arch), 40);
	return error_set(err, ERR_UNSUPPORTED, "the image is for %.20s/%s, and this is linux/%s",
		os, shown, image_architecture());
}

int image_use_within(struct images *s, struct image *i, uint64_t max_bytes,
	const struct cas_progress *progress, struct error *err)
{
	autofree char *lock_name = str_format("roots/%s.lock", image_hex(i->chain));
	autoclose int roots = -1, lock = -1;
	int found;

	if (image_check_platform(i, err) < 0 || images_dir(s, "roots", &roots, err) < 0)
		return -1;
	for (;;) {
		/* A lock that is turned from exclusive to shared lets others in between. */
		if (images_lock(s, lock_name, LOCK_SH, &lock, err) < 0)
			return -1;
		found = find_root(s, image_hex(i->chain), err);
		if (found != 0)
			break;
		fd_close(&lock);
		if (images_lock(s, lock_name, LOCK_EX, &lock, err) < 0)
			return -1;
		found = find_root(s, image_hex(i->chain), err);
		if (found < 0 || (found == 0 && make_root(s, i, max_bytes, progress, err) < 0))
			return -1;
		fd_close(&lock);
	}
	if (found < 0)
		return -1;
	i->root = str_format("%s/roots/%s/root", s->path, image_hex(i->chain));
	i->lock = take_fd(lock);
	return 0;
}

int image_use(
	struct images *s, struct image *i, const struct cas_progress *progress, struct error *err)
{
	return image_use_within(s, i, IMAGE_BYTES_MAX, progress, err);
}

bool image_is_unpacked(const struct images *s, const struct image *i)
{
	struct error err;

	return find_root(s, image_hex(i->chain), &err) > 0;
}
