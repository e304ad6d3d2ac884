/* SPDX-License-Identifier: Apache-2.0 */
/* Ending sessions, listing them, sweeping up: see session.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "session/place.h"
#include "session/session.h"

enum { STOP_WAIT_MS = 15000, SESSIONS_MAX = 1000000, TOMBSTONE_SECONDS = 7 * 24 * 3600 };

/* Tells whoever runs something there to end it. */
static int ask_to_stop(struct session_store *s, const char *id, struct error *err)
{
	char path[64];
	autoclose int fd = -1;

	snprintf(path, sizeof(path), "%s/stop/now", id);
	fd = openat(s->fd, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 && errno != ENOENT)
		return error_sys(err, "session '%s': ask for its end", id);
	return 0;
}

/* The session alone for us, with nothing running. */
static int stop(struct session_store *s, const char *id, struct place *p, struct session_record *r,
	struct error *err)
{
	/* Looked up first, so that an unknown id is told as that. */
	if (session_id_is(id) && ask_to_stop(s, id, err) < 0)
		return -1;
	if (place_open(s, id, PLACE_EXCLUSIVE, STOP_WAIT_MS, p, err) < 0)
		return -1;
	return session_record_read(p->dir, r, err) < 0 ? error_wrap(err, "session '%s'", id) : 0;
}

int session_shutdown(struct session_store *s, const char *id, struct error *err)
{
	auto_session_record struct session_record r = {0};
	auto_sandbox struct sandbox b = {0};
	auto_place struct place p = {-1, -1};

	if (stop(s, id, &p, &r, err) < 0)
		return -1;
	if (r.state == SESSION_CREATING)
		return error_set(err, ERR_MISSING,
			"session '%s' is half made; 'sandglass session gc' removes it", id);
	if (r.state != SESSION_READY)
		return 0;
	if (place_sandbox(s, &r, &b, err) < 0 || b.driver->shutdown(&b, err) < 0)
		return -1;
	r.state = SESSION_SHUT;
	return session_record_write(p.dir, &r, err);
}

int session_destroy(struct session_store *s, const char *id, struct error *err)
{
	auto_session_record struct session_record r = {0};
	auto_place struct place p = {-1, -1};

	if (stop(s, id, &p, &r, err) < 0)
		return -1;
	if (r.state == SESSION_DESTROYED)
		return 0;
	return place_clear(s, &p, &r, err);
}

/* The ids of all session directories. */
static int all_ids(struct session_store *s, struct beneath_names *ret, struct error *err)
{
	return beneath_list(s->fd, SESSIONS_MAX, ret, err) < 0 ? error_wrap(err, "'%.300s'", s->dir)
							       : 0;
}

int session_list(struct session_store *s, bool with_destroyed, session_visit *visit, void *arg,
	struct error *err)
{
	auto_names struct beneath_names names = {0};

	if (all_ids(s, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		auto_session_record struct session_record r = {0};
		autoclose int dir = openat(
			s->fd, names.items[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		struct error why = {0};

		if (dir < 0 || !session_id_is(names.items[i]))
			continue;
		/* One that is being made or removed at this moment is none to list. */
		if (session_record_read(dir, &r, &why) < 0) {
			if (why.code == ERR_MISSING)
				continue;
			*err = why;
			return error_wrap(err, "session '%s'", names.items[i]);
		}
		if (r.state == SESSION_CREATING || r.state == SESSION_DESTROYING ||
			(r.state == SESSION_DESTROYED && !with_destroyed))
			continue;
		if (visit(arg, &r, err) < 0)
			return -1;
	}
	return 0;
}

/* Why a session goes: the counter to count it in, or NULL when it stays. */
static uint64_t *reason(struct session_gc *gc, const struct session_record *r, bool has_record)
{
	uint64_t now_s = clock_host_real_ns() / 1000000000;
	uint64_t age = now_s > r->created_s ? now_s - r->created_s : 0;

	if (!has_record || r->state == SESSION_CREATING || r->state == SESSION_DESTROYING)
		return &gc->half_made;
	if (r->state == SESSION_DESTROYED)
		return age > TOMBSTONE_SECONDS ? &gc->tombstones : NULL;
	if (r->owner && session_process_start(r->owner) != r->owner_start)
		return &gc->ownerless;
	return gc->older_s && age > gc->older_s ? &gc->old : NULL;
}

static int sweep(struct session_store *s, struct session_gc *gc, const char *id, struct error *err)
{
	auto_session_record struct session_record r = {0};
	auto_place struct place p = {-1, -1};
	struct error why = {0};
	uint64_t *count;
	bool has_record, keeps_tombstone;

	/* Somebody works on it, or it went meanwhile. */
	if (place_open(s, id, PLACE_EXCLUSIVE, 0, &p, &why) < 0)
		return why.code == ERR_BUSY || why.code == ERR_MISSING ? 0 : (*err = why, -1);
	has_record = session_record_read(p.dir, &r, &why) == 0;
	if (!has_record && why.code != ERR_MISSING)
		return (*err = why, error_wrap(err, "session '%s'", id));
	count = reason(gc, &r, has_record);
	if (!count)
		return 0;
	++*count;
	if (has_record && gc->removed && gc->removed(gc->arg, &r, err) < 0)
		return -1;
	if (gc->is_dry)
		return 0;
	keeps_tombstone = count == &gc->ownerless || count == &gc->old ||
			  (has_record && r.state == SESSION_DESTROYING);
	if (has_record && count != &gc->tombstones && place_clear(s, &p, &r, err) < 0)
		return error_wrap(err, "session '%s'", id);
	return keeps_tombstone ? 0 : place_remove(s, id, err);
}

/* A directory without a lock: its maker was killed before he had one. */
static int sweep_bare(
	struct session_store *s, struct session_gc *gc, const char *id, struct error *err)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/lock", id);
	if (faccessat(s->fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
		return 0;
	gc->half_made++;
	/* An empty directory: should it have a lock by now, this fails and that is right. */
	if (!gc->is_dry && unlinkat(s->fd, id, AT_REMOVEDIR) < 0 && errno != ENOENT &&
		errno != ENOTEMPTY)
		return error_sys(err, "session '%s'", id);
	return 0;
}

int session_gc(struct session_store *s, struct session_gc *gc, struct error *err)
{
	auto_names struct beneath_names names = {0};
	struct error why;
	int r = 0;

	if (all_ids(s, &names, err) < 0)
		return -1;
	/* One that cannot be removed keeps no other from it; the first error is the one to tell. */
	for (size_t i = 0; i < names.count; i++) {
		if (!session_id_is(names.items[i]))
			continue;
		if (sweep_bare(s, gc, names.items[i], r < 0 ? &why : err) < 0 ||
			sweep(s, gc, names.items[i], r < 0 ? &why : err) < 0)
			r = -1;
	}
	return r;
}
