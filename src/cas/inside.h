/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store as the files of this folder see it: where things lie, and who holds what.
 *
 *   XX/HEX             the bytes of an object; XX are the first two digits
 *   XX/HEX.delta       or: how to make them from another object (delta.h)
 *   XX/HEX.meta.json   what its writer said of it; description only
 *   roots/NAME         a digest that shall stay
 *   pins/RANDOM        what an open handle has put or held, locked by its process
 *   tmp/RANDOM         what is being written, locked by its writer
 *   lock               shared while a pin or a root is made, exclusive while gc marks and sweeps
 *
 * The locks are the kernel's (flock), so that a killed process has none.
 */
#ifndef CAS_INSIDE_H
#define CAS_INSIDE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "cas/cas.h"

enum {
	CAS_HEX = 64,
	CAS_NAME_MAX = CAS_HEX + 16, /* "HEX.meta.json" and a NUL */
	CAS_RANDOM = 24,
};

struct cas {
	enum cas_mode mode;
	int root, tmp, pins;
	int pin; /* our own file in pins; -1: nothing held yet */
	char pin_name[CAS_RANDOM + 1];
};

/* The 64 digits of a digest text. Borrowed. */
const char *cas_hex(const char digest[DIGEST_TEXT]);
/* Takes the user's text; ERR_USAGE when it is none. */
MUST_CHECK int cas_digest_parse(const char *text, char ret[DIGEST_TEXT], struct error *err);

/* Shard of a digest: a descriptor, or -1 with errno (ENOENT: there is none). */
int cas_shard_open(const struct cas *c, const char *hex);
/* The same, made durably where it was not there. */
MUST_CHECK int cas_shard_make(struct cas *c, const char *hex, int *ret, struct error *err);
/* A regular file to read, nothing followed and nothing waited for: -1 with errno, EINVAL when it is
 * something else. */
int cas_file_open(int dir, const char *name, struct stat *ret_st);

/* A new locked file in tmp, mode 0444 at the end. The caller unlinks or renames it. */
MUST_CHECK int cas_tmp_make(
	struct cas *c, char ret_name[CAS_RANDOM + 1], int *ret_fd, struct error *err);
/* Puts a small file into place, durably but for the directory's own fsync. */
MUST_CHECK int cas_file_replace(
	struct cas *c, int dir, const char *name, const void *data, size_t len, struct error *err);

/* flock of the store's lock; released by the cleaner. */
MUST_CHECK int cas_lock(struct cas *c, int operation, int *ret_fd, struct error *err);
/* Names the digest in our pin file, so that gc keeps it. */
MUST_CHECK int cas_pin(struct cas *c, const char *hex, struct error *err);

/* What lies in HEX.meta.json, or what of it makes sense; never an error. */
void cas_sidecar_read(int shard, const char *hex, struct cas_entry *e);
MUST_CHECK int cas_sidecar_write(struct cas *c, int shard, const char *hex, uint64_t size,
	const struct cas_about *about, struct error *err);

/* ERR_USAGE unless it may be the name of a root. */
MUST_CHECK int cas_root_check(const char *name, struct error *err);

#endif
