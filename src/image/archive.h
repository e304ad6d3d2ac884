/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tar streams and directories, through libarchive. The real functions are in a module that is
 * loaded at the first call (module.c), for libarchive brings many libraries and a run of an image
 * that is unpacked needs none of them.
 */
#ifndef IMAGE_ARCHIVE_H
#define IMAGE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"

/* A stream that is read to its end. */
struct archive_input {
	/* The next bytes, borrowed until the next call: 1, 0 at the end and ever after, -1. */
	int (*next)(void *context, const void **ret_data, size_t *ret_len, struct error *err);
	/* Shown every byte when it is decompressed, in order; may be NULL. */
	void (*seen)(void *context, const void *data, size_t len);
	void *context;
};

/* Where layers are laid one over the other. archive_tree_open, archive_apply..., archive_settle. */
struct archive_tree;
struct archive_bounds {
	uint64_t bytes;	  /* of all streams, and of all files, when they are decompressed */
	uint64_t entries; /* of all streams */
};
struct archive_counts {
	uint64_t entries, bytes;
	uint64_t left_out; /* device nodes and attributes that only root can make */
};

/* dir is an empty directory; it stays the caller's. */
MUST_CHECK int archive_tree_open(
	int dir, const struct archive_bounds *bounds, struct archive_tree **ret, struct error *err);
void archive_tree_close(struct archive_tree *t);

/*
 * Lays a layer over what is there: a tar, plain or compressed (gzip, zstd, xz, bzip2). `plain`: no
 * whiteouts, as in an archive that is no layer. Every name must be relative, free of "..", and must
 * not lead through a symlink (ERR_ESCAPE).
 */
MUST_CHECK int archive_apply(
	struct archive_tree *t, const struct archive_input *in, bool plain, struct error *err);
/* Gives the directories their modes, owners and times. */
MUST_CHECK int archive_settle(
	struct archive_tree *t, struct archive_counts *ret, struct error *err);

/* Decompresses a stream and shows it. */
MUST_CHECK int archive_look(const struct archive_input *in, uint64_t max_bytes, struct error *err);

enum archive_kind { ARCHIVE_OCI, ARCHIVE_DOCKER, ARCHIVE_PLAIN };
/* What the names in a tar file say that it is. The descriptor's offset is at the start after it. */
MUST_CHECK int archive_guess(int fd, enum archive_kind *ret, struct error *err);

/* A directory as a tar stream: one tree, one stream. Sockets are left out. */
MUST_CHECK int archive_pack(
	int dir, int fd, const struct archive_bounds *bounds, struct error *err);

#endif
