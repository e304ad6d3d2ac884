/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store of content: objects of bytes, each named by its SHA-256. Docs: docs/format/snapshot.
 *
 * An object is either there whole and durable or not there at all, whatever is killed at what
 * moment. What is read is verified; what is absent, tampered with and unreadable are told apart:
 * ERR_MISSING, ERR_TAMPERED, and any other code (ERR_SYSTEM mostly).
 *
 * Roots are names for objects that shall stay; cas_gc removes what no root leads to. What a handle
 * has put or held stays as long as the handle is open, so the order is: put, root, close.
 *
 * Digests are text, "sha256:<64 hex digits>"; the bare digits are taken too.
 */
#ifndef CAS_CAS_H
#define CAS_CAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "codec/json.h"
#include "crypto/digest.h"

enum {
	CAS_ROOT_MAX = 128, /* bytes of a root's name */
	/* Bytes of an object that may name others, of a sidecar, and of all that is parsed whole.
	 */
	CAS_RECORD_MAX = 1 << 20,
};

struct cas;

/*
 * The store in this directory. Writing makes it (mode 0700, its parents too) and clears away what
 * killed writers left; reading changes nothing at all and wants the store to be there. The
 * directory itself may be a symlink; nothing in it is followed.
 */
enum cas_mode { CAS_READ, CAS_WRITE };
MUST_CHECK int cas_open(const char *dir, enum cas_mode mode, struct cas **ret, struct error *err);
void cas_close(struct cas *c);
void cas_cleanup(struct cas **c);
#define auto_cas CLEANUP(cas_cleanup)

/* Called now and then with the bytes done so far; call may be NULL. */
struct cas_progress {
	void (*call)(void *context, uint64_t bytes);
	void *context;
};

/* What the sidecar shall say of an object. It describes and proves nothing. */
struct cas_about {
	const char *content_type; /* NULL: application/octet-stream */
	const json_t *metadata;	  /* an object, borrowed; NULL: empty */
};

/* 1 and the text form when text is a digest, else 0. */
int cas_digest_find(const char *text, char ret[DIGEST_TEXT]);

/*
 * Puts bytes; durable when it returns. An object that is there already is read and verified, and
 * one that was tampered with is replaced. about and progress may be NULL.
 */
MUST_CHECK int cas_put(struct cas *c, const void *data, size_t len, const struct cas_about *about,
	char ret[DIGEST_TEXT], struct error *err);
/* From the descriptor's offset to its end. */
MUST_CHECK int cas_put_fd(struct cas *c, int fd, const struct cas_about *about,
	const struct cas_progress *progress, char ret[DIGEST_TEXT], struct error *err);

/* A stream of bytes. A reader that met the end has verified all of them. */
struct cas_reader;
MUST_CHECK int cas_reader_open(
	struct cas *c, const char *digest, struct cas_reader **ret, struct error *err);
uint64_t cas_reader_size(const struct cas_reader *r);
/*
 * Up to len bytes, *ret_len of them: 1, or 0 at the end, reached only when the bytes are those of
 * the digest; ERR_TAMPERED there when they are not. So no byte may be believed before the end.
 */
MUST_CHECK int cas_reader_next(
	struct cas_reader *r, void *data, size_t len, size_t *ret_len, struct error *err);
void cas_reader_close(struct cas_reader *r);
void cas_reader_cleanup(struct cas_reader **r);
#define auto_cas_reader CLEANUP(cas_reader_cleanup)

/* The whole object, verified, with a NUL after it (caller frees); larger than max is ERR_LIMIT. */
MUST_CHECK int cas_get(struct cas *c, const char *digest, size_t max, char **ret_data,
	size_t *ret_len, struct error *err);
/* The whole object, verified, to a descriptor. */
MUST_CHECK int cas_get_fd(struct cas *c, const char *digest, int fd,
	const struct cas_progress *progress, struct error *err);

/* How it stands with an object; err (may be NULL) says why it is not intact. */
enum cas_state { CAS_INTACT, CAS_TAMPERED, CAS_ABSENT, CAS_UNREADABLE, CAS_STATES };
extern const char *const cas_state_names[CAS_STATES]; /* "intact" and so on */
enum cas_state cas_verify(
	struct cas *c, const char *digest, const struct cas_progress *progress, struct error *err);
/* 1: something is stored under the digest, unverified; 0; -1. From now on it is held: see above. */
MUST_CHECK int cas_hold(struct cas *c, const char *digest, struct error *err);

/* One stored object, unverified; what the sidecar says may be empty, and is description only. */
struct cas_entry {
	char digest[DIGEST_TEXT];
	uint64_t size;	    /* of the object */
	uint64_t stored;    /* bytes that it takes in the store */
	uint64_t created_s; /* since 1970, 0: not known */
	char content_type[128];
};
/* Returns 0 to go on, -1 to end the listing with err. */
typedef int cas_visit(void *context, const struct cas_entry *e, struct error *err);
/* Every object, sorted by digest. */
MUST_CHECK int cas_list(struct cas *c, cas_visit *visit, void *context, struct error *err);

/* Names are 1 to 128 of A-Z a-z 0-9 . _ - and do not begin with a dot; else ERR_USAGE. */
/* Sets or moves a root, durably. ERR_MISSING when no such object is stored. */
MUST_CHECK int cas_root_set(struct cas *c, const char *name, const char *digest, struct error *err);
/* 1, or 0 when there was none. */
MUST_CHECK int cas_root_drop(struct cas *c, const char *name, struct error *err);
MUST_CHECK int cas_root_find(
	struct cas *c, const char *name, char ret[DIGEST_TEXT], struct error *err);
struct cas_root {
	char name[CAS_ROOT_MAX + 1];
	char digest[DIGEST_TEXT];
};
/* All, sorted by name (caller frees). */
MUST_CHECK int cas_roots(
	struct cas *c, struct cas_root **ret, size_t *ret_count, struct error *err);

struct cas_gc {
	bool is_dry;	    /* in: only tell */
	cas_visit *removed; /* in, may be NULL: called for each object that goes */
	void *context;
	uint64_t kept_objects, removed_objects, removed_bytes; /* out */
};
/*
 * Removes every object that neither a root nor an open handle of a living process leads to. A
 * snapshot's record leads to its tree, and what is stored as a difference to what it is one of.
 * Safe beside puts of other processes.
 */
MUST_CHECK int cas_gc(struct cas *c, struct cas_gc *gc, struct error *err);

/* These objects and all that they lead to, as a tar stream with an index; each is verified. */
MUST_CHECK int cas_export(struct cas *c, const char *const *digests, size_t count, int fd,
	const struct cas_progress *progress, struct error *err);
/*
 * Reads such a stream and puts what is in it; a member whose bytes are not those of its name is
 * ERR_TAMPERED, and it does not get in. Every digest that was asked for at the export becomes the
 * root "import-<hex digits>" and is passed to visit (may be NULL).
 */
MUST_CHECK int cas_import(struct cas *c, int fd, cas_visit *visit, void *context,
	const struct cas_progress *progress, struct error *err);

#endif
