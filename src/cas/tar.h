/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Canonical ustar: headers as bytes, and a reader of just what we write. Docs:
 * docs/format/snapshot.
 */
#ifndef CAS_TAR_H
#define CAS_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/error.h"

enum {
	TAR_BLOCK = 512,
	TAR_RECORD = 10240, /* the stream's length is a multiple of it */
	TAR_PATH_MAX = 70000,
	TAR_PAX_MAX = 1 << 20,	  /* bytes of one extended header */
	TAR_SPARSE_MAX = 1 << 20, /* pieces of one file */
};

enum tar_type { TAR_FILE, TAR_DIRECTORY, TAR_SYMLINK };

struct tar_piece {
	uint64_t offset, len;
};

struct tar_xattr {
	const char *name;
	const void *value;
	size_t len;
};

struct tar_entry {
	enum tar_type type;
	const char *path;   /* relative, without a trailing slash */
	const char *target; /* of a symlink */
	unsigned mode;	    /* 07777; a symlink's is 0777 */
	uint64_t size;	    /* of a file */
	/* Pieces that are stored of a file with holes; NULL: all of it. */
	const struct tar_piece *pieces;
	size_t piece_count;
	const struct tar_xattr *xattrs; /* sorted by name */
	size_t xattr_count;
	bool is_list; /* our list of special files and no entry of the tree: it has our owner name
		       */
};

/* The header, with an extended one before it where ustar has no room, and a sparse file's map. */
void tar_put_header(struct bytes *out, const struct tar_entry *e);
/* Bytes of data that follow the header, without padding. */
uint64_t tar_data_size(const struct tar_entry *e);
/* Zeros after that many bytes, up to the next block. */
size_t tar_padding(uint64_t size);
/* Zeros that end a stream of so many bytes. */
size_t tar_end(uint64_t size);

/* Up to len bytes of the stream: 1 with *ret_len > 0, 0 at its end, -1. data NULL: they are not
 * wanted, which is asked only of a source that can_skip. */
typedef int tar_source(void *context, void *data, size_t len, size_t *ret_len, struct error *err);

struct tar_reader;
struct tar_reader *tar_reader_new(tar_source *source, void *context, bool can_skip);
void tar_reader_free(struct tar_reader *r);
void tar_reader_cleanup(struct tar_reader **r);
#define auto_tar_reader CLEANUP(tar_reader_cleanup)
/*
 * The next member, borrowed until the next call; what is left of the one before is passed over. 0
 * at the end of the archive. ERR_FORMAT for anything that we do not write, for paths that are not
 * relative and tidy, and for members out of order.
 */
MUST_CHECK int tar_next(struct tar_reader *r, struct tar_entry *ret, struct error *err);
/* Up to len bytes of the member's file that lie at *ret_offset in it: 1, 0 after the last. */
MUST_CHECK int tar_data(struct tar_reader *r, void *data, size_t len, size_t *ret_len,
	uint64_t *ret_offset, struct error *err);
/* Where the member's header begins in the stream, its extended one included; and its data. */
uint64_t tar_header_at(const struct tar_reader *r);
uint64_t tar_data_at(const struct tar_reader *r);

#endif
