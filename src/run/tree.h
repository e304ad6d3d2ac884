/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of files as a list of entries in canonical order, and that list's digest: what the guest
 * was given, and what it wrote. Docs: docs/format/report, "Trees".
 */
#ifndef RUN_TREE_H
#define RUN_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/error.h"
#include "crypto/digest.h"

enum {
	TREE_DEPTH_MAX = 128,
	TREE_ENTRIES_MAX = 1000000,
};

/* Files up to this size are digested whole; beyond, by the blocks that are not all zeros. */
#define TREE_WHOLE_MAX (1024ull * 1024 * 1024)
/* Bytes read for one tree; files past it are listed as unread. */
#define TREE_READ_MAX (64ull * 1024 * 1024 * 1024)

enum tree_type {
	TREE_FILE,
	TREE_DIRECTORY,
	TREE_SYMLINK,
	TREE_DELETED, /* was in the base, is gone */
	TREE_SOCKET,  /* sockets, fifos and devices are listed, never opened */
	TREE_FIFO,
	TREE_DEVICE,
	TREE_UNREAD, /* a file or directory that could not be read, or lies too deep */
	TREE_TYPES
};

struct tree_entry {
	enum tree_type type;
	const char *path; /* relative to the root, no leading slash */
	const char *name; /* its last part */
	int dir;	  /* descriptor of the directory that holds it */
	int fd;		  /* of a file, open for reading during the visit; else -1 */
	struct stat st;
	uint64_t mtime_ns;	  /* as the guest would see it */
	char digest[DIGEST_TEXT]; /* of a file */
	bool has_blocks_digest;	  /* it is the digest of a sparse file's blocks */
	const char *target;	  /* of a symlink */
};

typedef int tree_visit(void *context, const struct tree_entry *e, struct error *err);

struct tree_source {
	int root;     /* directory to walk; borrowed */
	int base;     /* entries that are the same here are left out; -1: none */
	bool is_ours; /* a dead guest's: modes may be changed while it is read, and are set back */
	bool is_overlay; /* root is an overlay's upper layer over base */
	bool has_times;	 /* list modification times */
	/* A time in this window of the host's clock was stamped by the kernel: it reads now_ns. */
	uint64_t real_from_ns, real_to_ns, now_ns;
	bool is_undigested; /* files need no digest */
};

/* Calls visit for every entry, a directory before what it holds. */
MUST_CHECK int tree_walk(
	const struct tree_source *s, tree_visit *visit, void *context, struct error *err);

/* One entry as a line of canonical JSON without newline (caller frees). */
char *tree_line(const struct tree_source *s, const struct tree_entry *e);
/* SHA-256 over all lines, each with its newline; the lines also go to `listing` (-1: nowhere). */
MUST_CHECK int tree_digest(
	const struct tree_source *s, int listing, char ret[DIGEST_TEXT], struct error *err);
/* Of a path of the host, a directory or a single file; times are left out. */
MUST_CHECK int tree_digest_path(const char *path, char ret[DIGEST_TEXT], struct error *err);

/* Digest of a regular file that may be sparse; *ret_blocks as has_blocks_digest. */
MUST_CHECK int tree_digest_file(
	int fd, uint64_t size, char ret[DIGEST_TEXT], bool *ret_blocks, struct error *err);

#endif
