/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions: living workspaces, each in a backend, known by an id to every process of this user.
 * docs/format/session has the record and the promises.
 *
 * How they are kept. STATE/sessions/ID holds record.json (what the session is, and how far a create
 * or destroy has come: written before the step that it names), lock (held by whoever works on it,
 * freed by the kernel when he dies), stop/ (a file in it ends what runs) and ID (the backend's
 * home). A session whose record says `creating` or `destroying` while nobody holds its lock is half
 * made: nothing shows it, and session_gc sweeps it up.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "cas/cas.h"
#include "sandbox/sandbox.h"
#include "session/record.h"

enum { SESSION_FORKS_MAX = 1024 };

/* Where sessions and snapshots are: the state directory, made when it is not there. */
struct session_store;
MUST_CHECK int session_store_open(struct session_store **ret, struct error *err);
void session_store_close(struct session_store *s);
void session_store_cleanup(struct session_store **s);
#define auto_session_store CLEANUP(session_store_cleanup)
/* The CAS of its snapshots, opened for writing at the first call. Borrowed. */
MUST_CHECK int session_store_cas(struct session_store *s, struct cas **ret, struct error *err);

/* owner 0: it lives until it is destroyed. The id is a new one. */
MUST_CHECK int session_create(struct session_store *s, const char *backend,
	const struct manifest *m, int64_t owner, char ret_id[SESSION_ID_SIZE], struct error *err);

/* A session in use; closing it ends nothing. */
struct session;
/*
 * ERR_MISSING for an id that there never was or that is half made; ERR_CLOSED for a destroyed one.
 */
MUST_CHECK int session_open(
	struct session_store *s, const char *id, struct session **ret, struct error *err);
void session_close(struct session *s);
void session_cleanup(struct session **s);
#define auto_session CLEANUP(session_cleanup)
const struct session_record *session_record(const struct session *s);
const struct manifest *session_manifest(const struct session *s);

/* The verbs of struct sandbox_driver. exec and write are ERR_CLOSED after a shutdown. */
MUST_CHECK int session_exec(struct session *s, const struct sandbox_exec *x,
	struct sandbox_result *ret, struct error *err);
MUST_CHECK int session_read(struct session *s, const char *path, size_t max, char **ret,
	size_t *ret_len, struct error *err);
MUST_CHECK int session_write(struct session *s, const char *path, const void *data, size_t len,
	unsigned mode, struct error *err);
MUST_CHECK int session_ls(
	struct session *s, const char *path, struct sandbox_names *ret, struct error *err);
/*
 * Freezes the workspace; the digest is that of a record with its manifest, and the root
 * "snapshot-<hex digits>" keeps it (`cas gc --unroot` lets go). ERR_BUSY while a program runs in
 * it.
 */
MUST_CHECK int session_snapshot(struct session *s, const struct snapshot_policy *policy,
	char ret[DIGEST_TEXT], struct error *err);
/* A new session from a snapshot. backend NULL: native. */
MUST_CHECK int session_resume(struct session_store *s, const char *digest, const char *backend,
	int64_t owner, char ret_id[SESSION_ID_SIZE], struct error *err);
/* count new sessions like this one, ids into ret_ids. All or none. */
MUST_CHECK int session_fork(struct session *s, size_t count, int64_t owner,
	char (*ret_ids)[SESSION_ID_SIZE], struct error *err);

/* By id, since they are complete whatever state it is in. Again is success; unknown ERR_MISSING. */
MUST_CHECK int session_shutdown(struct session_store *s, const char *id, struct error *err);
MUST_CHECK int session_destroy(struct session_store *s, const char *id, struct error *err);

/* Every session but half-made ones, sorted by id. Destroyed ones too when asked for. */
typedef int session_visit(void *arg, const struct session_record *r, struct error *err);
MUST_CHECK int session_list(struct session_store *s, bool with_destroyed, session_visit *visit,
	void *arg, struct error *err);

struct session_gc {
	bool is_dry;		/* in: only count */
	uint64_t older_s;	/* in: also sessions created longer ago than this; 0: none */
	session_visit *removed; /* in, may be NULL */
	void *arg;
	uint64_t half_made, ownerless, old, tombstones; /* out */
};
/*
 * Removes half-made sessions, those whose owner is dead, the old ones, and records of destroyed
 * ones after a week. What somebody works on at this moment is left alone.
 */
MUST_CHECK int session_gc(struct session_store *s, struct session_gc *gc, struct error *err);

#endif
