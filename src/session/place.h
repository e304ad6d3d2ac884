/* SPDX-License-Identifier: Apache-2.0 */
/* A session's directory and its lock: the ground that the verbs stand on. */
#ifndef SESSION_PLACE_H
#define SESSION_PLACE_H

#include "base/attr.h"
#include "base/error.h"
#include "session/session.h"

struct session_store {
	char *dir; /* STATE/sessions */
	int fd;	   /* of it */
	char *cas_dir;
	struct cas *cas; /* or NULL, until it is needed */
};

/* One session's directory, perhaps locked. */
struct place {
	int dir, lock; /* owned; -1: closed */
};
void place_close(struct place *p);
#define auto_place CLEANUP(place_close)

/* Shared: others may read and exec too. Exclusive: nobody else is at work. */
enum place_lock { PLACE_SHARED, PLACE_EXCLUSIVE };

/* A new directory with an id of its own, locked exclusively. */
MUST_CHECK int place_make(struct session_store *s, struct place *ret, char ret_id[SESSION_ID_SIZE],
	struct error *err);
/* ERR_MISSING when there is no such session. Waits for the lock, at most `wait_ms`: ERR_BUSY. */
MUST_CHECK int place_open(struct session_store *s, const char *id, enum place_lock lock,
	int wait_ms, struct place *ret, struct error *err);
/* The exclusive lock becomes a shared one without a gap. */
MUST_CHECK int place_share(struct place *p, struct error *err);
/* Path of the backend's home (caller frees). Its last part is the id, which backends use as a name.
 */
char *place_home(const struct session_store *s, const char *id);

/* The record, the manifest that it keeps, and the backend of it all; sandbox_close. */
MUST_CHECK int place_sandbox(const struct session_store *s, const struct session_record *r,
	struct sandbox *ret, struct error *err);
/* Everything of the backend goes; then the record says so. Needs the exclusive lock. */
MUST_CHECK int place_clear(
	struct session_store *s, struct place *p, struct session_record *r, struct error *err);
/* The directory goes, also when there is no readable record in it. */
MUST_CHECK int place_remove(struct session_store *s, const char *id, struct error *err);

#endif
