/* SPDX-License-Identifier: Apache-2.0 */
/* A session's record: what it is and how far it has come, replaced whole and durably. */
#ifndef SESSION_RECORD_H
#define SESSION_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "crypto/digest.h"

enum { SESSION_ID_SIZE = 20 };

enum session_state {
	SESSION_CREATING,
	SESSION_READY,
	SESSION_SHUT, /* nothing runs and nothing more is run; the files are there */
	SESSION_DESTROYING,
	SESSION_DESTROYED, /* the record alone is left, so that destroying again is success */
};
const char *session_state_name(enum session_state state);

struct session_record {
	char id[SESSION_ID_SIZE];
	enum session_state state;
	char *backend;
	char *manifest;		      /* manifest_kept's JSON */
	char base[DIGEST_TEXT];	      /* the snapshot that it began as, or "" */
	char parent[SESSION_ID_SIZE]; /* the session that it is a fork of, or "" */
	char made[16];		      /* how its files came: manifest, snapshot, copy, reflink */
	uint64_t created_s;	      /* host time since 1970 */
	int64_t owner;		      /* process that it ends with, or 0 */
	uint64_t owner_start;	      /* of it, in ticks since boot: pids come again */
};
void session_record_finish(struct session_record *r);
#define auto_session_record CLEANUP(session_record_finish)

/* Into the directory of the session, in one step that is durable when this returns. */
MUST_CHECK int session_record_write(int dir, const struct session_record *r, struct error *err);
/* ERR_MISSING when there is none (a killed create had not come that far), ERR_FORMAT. */
MUST_CHECK int session_record_read(int dir, struct session_record *ret, struct error *err);

/* True for "s-" and 12 lower-case hex digits: nothing else ever becomes part of a path. */
bool session_id_is(const char *text);
/* When the process began, in ticks since boot; 0 when it is gone. */
uint64_t session_process_start(int64_t pid);

#endif
