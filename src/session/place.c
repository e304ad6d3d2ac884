/* SPDX-License-Identifier: Apache-2.0 */
/* A session's directory and its lock: see place.h. */
#include "session/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/remove.h"
#include "base/str.h"
#include "config/paths.h"
#include "session/event.h"

enum { TRIES = 100, STEP_MS = 5, ID_BYTES = 6 };

void place_close(struct place *p)
{
	fd_close(&p->dir);
	fd_close(&p->lock);
}

int session_store_open(struct session_store **ret, struct error *err)
{
	autofree char *state = NULL;
	auto_session_store struct session_store *s = mem_alloc(sizeof(*s));

	s->fd = -1;
	if (paths_find(PATHS_STATE, &state, err) < 0)
		return -1;
	s->dir = path_join(state, "sessions");
	s->cas_dir = path_join(state, "cas");
	if (dir_make(s->dir, err) < 0)
		return -1;
	s->fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->fd < 0)
		return error_sys(err, "open '%.300s'", s->dir);
	*ret = take_ptr(s);
	return 0;
}

void session_store_close(struct session_store *s)
{
	if (!s)
		return;
	cas_close(s->cas);
	fd_close(&s->fd);
	free(s->dir);
	free(s->cas_dir);
	free(s);
}

void session_store_cleanup(struct session_store **s)
{
	session_store_close(*s);
}

int session_store_cas(struct session_store *s, struct cas **ret, struct error *err)
{
	if (!s->cas && cas_open(s->cas_dir, CAS_WRITE, &s->cas, err) < 0)
		return -1;
	*ret = s->cas;
	return 0;
}

static int open_lock(int dir, bool create)
{
	return openat(
		dir, "lock", (create ? O_RDWR | O_CREAT : O_RDWR) | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* 1: made; 0: the name was taken or is being swept up. */
static int try_make(struct session_store *s, const char *id, struct place *p, struct error *err)
{
	struct stat ours, named;

	if (fault_point("session: make its directory") < 0)
		return error_sys(err, "make a session in '%.300s'", s->dir);
	if (mkdirat(s->fd, id, 0700) < 0)
		return errno == EEXIST ? 0 : error_sys(err, "make a session in '%.300s'", s->dir);
	if (fault_point("session: open its lock") < 0)
		return error_sys(err, "make a session in '%.300s'", s->dir);
	p->dir = openat(s->fd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	p->lock = p->dir < 0 ? -1 : open_lock(p->dir, true);
	/* A sweep between the two has taken it for a half-made one. */
	if (p->lock < 0 || flock(p->lock, LOCK_EX | LOCK_NB) < 0 || fstat(p->dir, &ours) < 0 ||
		fstatat(s->fd, id, &named, AT_SYMLINK_NOFOLLOW) < 0 ||
		ours.st_ino != named.st_ino) {
		int errnum = errno;

		place_close(p);
		errno = errnum;
		return errnum == ENOENT || errnum == EWOULDBLOCK || errnum == EEXIST
			       ? 0
			       : error_sys(err, "make a session in '%.300s'", s->dir);
	}
	return 1;
}

int place_make(
	struct session_store *s, struct place *ret, char ret_id[SESSION_ID_SIZE], struct error *err)
{
	for (int i = 0; i < TRIES; i++) {
		unsigned char raw[ID_BYTES];
		int made;

		if (getrandom(raw, sizeof(raw), 0) != sizeof(raw))
			return error_sys(err, "draw an id");
		snprintf(ret_id, SESSION_ID_SIZE, "s-%02x%02x%02x%02x%02x%02x", raw[0], raw[1],
			raw[2], raw[3], raw[4], raw[5]);
		made = try_make(s, ret_id, ret, err);
		if (made)
			return made < 0 ? -1 : 0;
	}
	return error_set(err, ERR_BUSY, "found no free id for a session");
}

static int no_such(const char *id, struct error *err)
{
	autofree char *safe = str_printable(id, strlen(id), 40);

	return error_set(
		err, ERR_MISSING, "no session '%s'; 'sandglass session list' lists them", safe);
}

static int take_lock(int fd, enum place_lock lock, int wait_ms, struct error *err)
{
	int how = (lock == PLACE_SHARED ? LOCK_SH : LOCK_EX) | LOCK_NB;

	for (int waited = 0; flock(fd, how) < 0; waited += STEP_MS) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return error_sys(err, "lock the session");
		if (waited >= wait_ms)
			return error_set(err, ERR_BUSY, "the session is in use by another process");
		usleep(STEP_MS * 1000);
	}
	return 0;
}

int place_open(struct session_store *s, const char *id, enum place_lock lock, int wait_ms,
	struct place *ret, struct error *err)
{
	auto_place struct place p = {-1, -1};

	if (!session_id_is(id))
		return no_such(id, err);
	p.dir = openat(s->fd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (p.dir < 0)
		return errno == ENOENT ? no_such(id, err) : error_sys(err, "session '%s'", id);
	p.lock = open_lock(p.dir, false);
	if (p.lock < 0)
		return errno == ENOENT ? no_such(id, err) : error_sys(err, "session '%s'", id);
	if (take_lock(p.lock, lock, wait_ms, err) < 0)
		return error_wrap(err, "session '%s'", id);
	*ret = p;
	p = (struct place){-1, -1};
	return 0;
}

int place_share(struct place *p, struct error *err)
{
	return flock(p->lock, LOCK_SH) < 0 ? error_sys(err, "lock the session") : 0;
}

char *place_home(const struct session_store *s, const char *id)
{
	autofree char *dir = path_join(s->dir, id);

	return path_join(dir, id);
}

int place_sandbox(const struct session_store *s, const struct session_record *r,
	struct sandbox *ret, struct error *err)
{
	auto_manifest struct manifest m;
	autofree char *home = place_home(s, r->id);

	if (manifest_parse(r->manifest, strlen(r->manifest), "/", &m, err) < 0) {
		m = (struct manifest){0};
		return error_wrap(err, "session '%s'", r->id);
	}
	return sandbox_open(ret, r->backend, home, &m, err);
}

int place_clear(
	struct session_store *s, struct place *p, struct session_record *r, struct error *err)
{
	auto_sandbox struct sandbox b = {0};
	bool was_creating;

	if (r->state != SESSION_CREATING && r->state != SESSION_DESTROYING) {
		r->state = SESSION_DESTROYING;
		if (session_record_write(p->dir, r, err) < 0)
			return -1;
	}
	if (fault_point("session: clear the backend") < 0)
		return error_sys(err, "session '%s'", r->id);
	if (place_sandbox(s, r, &b, err) < 0 || b.driver->shutdown(&b, err) < 0 ||
		b.driver->destroy(&b, err) < 0)
		return -1;
	if (fault_point("session: remove its home") < 0)
		return error_sys(err, "session '%s'", r->id);
	if (remove_tree(p->dir, r->id, err) < 0 || remove_tree(p->dir, "stop", err) < 0)
		return -1;
	was_creating = r->state == SESSION_CREATING;
	r->state = SESSION_DESTROYED;
	if (session_record_write(p->dir, r, err) < 0)
		return -1;
	/* What was never there for anybody is not told to be gone. */
	return was_creating ? 0 : session_event_destroy(s, r, err);
}

int place_remove(struct session_store *s, const char *id, struct error *err)
{
	return remove_tree(s->fd, id, err) < 0 ? -1 : 0;
}
