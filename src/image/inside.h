/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The images as the files of this folder see them: where things lie, and who holds what.
 *
 *   images/names.json       the names, one JSON object; replaced whole
 *   images/roots/HEX/       an unpacked image, by the hex digits of its chain id:
 *     root/                   its files
 *     made.json               when and of what it was made
 *   images/roots/HEX.lock   shared while somebody uses that root, exclusive while it is made or
 * goes images/tmp/RANDOM/      what is being made, locked by its maker images/lock exclusive while
 * the names or an image's roots in the store change
 *
 * In the store of content an image is a set of roots: "image.HEX" (HEX of the manifest's digest) is
 * the manifest and comes last and goes first, so that it is there only when all is;
 * "image.HEX.config" and "image.HEX.N" are its config and layers, "image-index.HEX" an index that
 * leads to a manifest.
 */
#ifndef IMAGE_INSIDE_H
#define IMAGE_INSIDE_H

#include "image/archive.h"
#include "image/image.h"

enum { IMAGE_ROOT_NAME = 100, IMAGE_TMP_NAME = 24 };

struct images {
	struct cas *cas;
	int dir;    /* images/ */
	char *path; /* the same */
	bool is_writable;
};

/* The hex digits of a digest. Borrowed. */
const char *image_hex(const char digest[DIGEST_TEXT]);
/* "image.HEX" and, where part is not NULL, "." and it. */
void image_root_name(char ret[IMAGE_ROOT_NAME], const char digest[DIGEST_TEXT], const char *part);

/* flock(2) of a file in images/, made where it is missing; ERR_BUSY with LOCK_NB. */
MUST_CHECK int images_lock(
	const struct images *s, const char *name, int operation, int *ret_fd, struct error *err);
/* A new directory in images/tmp, with its lock. */
MUST_CHECK int images_tmp_make(
	const struct images *s, char ret_name[IMAGE_TMP_NAME], int *ret_fd, struct error *err);
/* Opens or makes a directory of images/. */
MUST_CHECK int images_dir(const struct images *s, const char *name, int *ret_fd, struct error *err);

/* Bytes of a stored object as an input; `seen` digests what is decompressed. */
struct image_stream {
	struct cas_reader *reader;
	struct digest *diff; /* NULL: not wanted */
	const struct cas_progress *progress;
	uint64_t done;
	bool ended;
	char buffer[256 * 1024];
};
MUST_CHECK int image_stream_open(struct images *s, const char *digest, bool wants_diff,
	struct image_stream **ret, struct error *err);
struct archive_input image_stream_input(struct image_stream *s);
void image_stream_close(struct image_stream **s);
#define auto_image_stream CLEANUP(image_stream_close)

/* Makes a complete set of objects an image: its roots, and its name (may be NULL). */
MUST_CHECK int image_enroll(struct images *s, const struct image *i, const char *name,
	const char *index, struct error *err);
/* Lays all layers of an image into an empty directory, and hashes them. */
MUST_CHECK int image_lay(struct images *s, const struct image *i, int dir,
	const struct cas_progress *progress, struct archive_counts *ret, struct error *err);

/* image_use with another bound. */
MUST_CHECK int image_use_within(struct images *s, struct image *i, uint64_t max_bytes,
	const struct cas_progress *progress, struct error *err);

/* A directory of images/tmp that goes, with all in it, unless it was given a place (fd -1). */
struct making {
	const struct images *s;
	char name[IMAGE_TMP_NAME];
	int fd;
};
void making_drop(struct making *m);
#define auto_making CLEANUP(making_drop)

/* Sets or drops (digest NULL) a name; the lock must be held. */
MUST_CHECK int image_name_put(
	struct images *s, const char *name, const char *digest, struct error *err);

/* What an import has in a directory of ours or the user's: `where` says it in messages. */
struct image_parts {
	int dir;
	const char *where;
	const struct image_import *o;
	/* Of a registry: the manifest that it has to be, and the index that led there, or NULL. */
	const char *expected, *index;
	const char *name;
};
/* Imports a directory that is one of these. */
MUST_CHECK int image_import_dir(struct images *s, const struct image_parts *p,
	enum image_format format, struct image *ret, struct error *err);

#endif
