/* SPDX-License-Identifier: Apache-2.0 */
/* Making sessions and working in them: see session.h. */
#include "session/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "codec/json.h"
#include "session/event.h"
#include "session/place.h"

enum { WAIT_MS = 10000, QUIET_MS = 200 };

struct session {
	struct session_store *store; /* borrowed */
	struct session_record record;
	struct sandbox sandbox;
};

void session_close(struct session *s)
{
	if (!s)
		return;
	sandbox_close(&s->sandbox);
	session_record_finish(&s->record);
	free(s);
}

void session_cleanup(struct session **s)
{
	session_close(*s);
}

const struct session_record *session_record(const struct session *s)
{
	return &s->record;
}

const struct manifest *session_manifest(const struct session *s)
{
	return &s->sandbox.manifest;
}

/* How the workspace begins: as its manifest says, or as a snapshot. */
struct beginning {
	const char *backend;
	const struct manifest *manifest;
	const char *tree;	/* digest, or NULL */
	const char *base;	/* what the user named, or NULL */
	struct session *parent; /* that it is a fork of, locked by us; or NULL */
	int64_t owner;
};

static int fill(struct session_store *s, const struct beginning *b, const char *home,
	struct session_record *r, struct error *err)
{
	const char *how = b->tree ? "snapshot" : "manifest";

	auto_sandbox struct sandbox box = {0};
	struct cas *cas = NULL;

	if (sandbox_open(&box, b->backend, home, b->manifest, err) < 0)
		return -1;
	if (b->parent && !b->tree) {
		if (box.driver->copy(&box, &b->parent->sandbox, &how, err) < 0)
			return -1;
	} else if (b->tree) {
		if (session_store_cas(s, &cas, err) < 0 ||
			box.driver->thaw(&box, cas, b->tree, err) < 0)
			return -1;
	} else if (box.driver->create(&box, err) < 0) {
		return -1;
	}
	snprintf(r->made, sizeof(r->made), "%s", how);
	return 0;
}

static int make_home(const struct place *p, const char *id, struct error *err)
{
	if (fault_point("session: make the home") < 0 || mkdirat(p->dir, id, 0700) < 0 ||
		mkdirat(p->dir, "stop", 0700) < 0)
		return error_sys(err, "make the session's directory");
	return 0;
}

/* What cannot be taken back now is swept up later; the first error is the one to tell. */
static void take_back(struct session_store *s, struct place *p, struct session_record *r)
{
	struct error err;

	if (place_clear(s, p, r, &err) == 0 && place_remove(s, r->id, &err) == 0)
		return;
}

/* The intent is on disk before anything is made, and `ready` after all of it. */
static int begin(struct session_store *s, const struct beginning *b, char ret_id[SESSION_ID_SIZE],
	struct error *err)
{
	auto_session_record struct session_record r = {.state = SESSION_CREATING,
		.created_s = clock_host_real_ns() / 1000000000,
		.owner = b->owner};
	auto_place struct place p = {-1, -1};
	autofree char *home = NULL;

	if (b->owner) {
		r.owner_start = session_process_start(b->owner);
		if (!r.owner_start)
			return error_set(err, ERR_USAGE, "no process %lld to own the session",
				(long long)b->owner);
	}
	r.backend = mem_strdup(b->backend);
	r.manifest = manifest_kept(b->manifest);
	if (place_make(s, &p, ret_id, err) < 0)
		return -1;
	memcpy(r.id, ret_id, SESSION_ID_SIZE);
	if (b->base)
		snprintf(r.base, sizeof(r.base), "%s", b->base);
	if (b->parent)
		memcpy(r.parent, b->parent->record.id, SESSION_ID_SIZE);
	home = place_home(s, r.id);
	if (session_record_write(p.dir, &r, err) == 0 && make_home(&p, r.id, err) == 0 &&
		fill(s, b, home, &r, err) == 0 && session_event_create(s, &r, err) == 0) {
		r.state = SESSION_READY;
		if (session_record_write(p.dir, &r, err) == 0)
			return 0;
	}
	take_back(s, &p, &r);
	return -1;
}

int session_create(struct session_store *s, const char *backend, const struct manifest *m,
	int64_t owner, char ret_id[SESSION_ID_SIZE], struct error *err)
{
	const struct sandbox_driver *d;
	struct beginning b = {
		.backend = backend ? backend : "native", .manifest = m, .owner = owner};

	if (sandbox_driver_find(b.backend, &d, err) < 0 || sandbox_check(d, m, err) < 0)
		return -1;
	return begin(s, &b, ret_id, err);
}

/* With the lock held: the record as it is now. */
static int read_record(
	const struct place *p, const char *id, struct session_record *ret, struct error *err)
{
	if (session_record_read(p->dir, ret, err) < 0)
		return error_wrap(err, "session '%s'", id);
	switch (ret->state) {
	case SESSION_CREATING:
		return error_set(err, ERR_MISSING,
			"session '%s' is half made; 'sandglass session gc' removes it", id);
	case SESSION_DESTROYING:
	case SESSION_DESTROYED:
		return error_set(err, ERR_CLOSED, "session '%s' was destroyed", id);
	case SESSION_READY:
	case SESSION_SHUT:
		break;
	}
	return 0;
}

int session_open(struct session_store *s, const char *id, struct session **ret, struct error *err)
{
	auto_place struct place p = {-1, -1};
	auto_session struct session *made = mem_alloc(sizeof(*made));

	made->store = s;
	if (place_open(s, id, PLACE_SHARED, WAIT_MS, &p, err) < 0 ||
		read_record(&p, id, &made->record, err) < 0 ||
		place_sandbox(s, &made->record, &made->sandbox, err) < 0)
		return -1;
	*ret = take_ptr(made);
	return 0;
}

/* Holds the session for one verb; active: not after a shutdown. */
static int hold(struct session *s, bool active, struct place *ret, struct error *err)
{
	auto_session_record struct session_record now = {0};
	auto_place struct place p = {-1, -1};

	if (place_open(s->store, s->record.id, PLACE_SHARED, WAIT_MS, &p, err) < 0 ||
		read_record(&p, s->record.id, &now, err) < 0)
		return -1;
	if (active && now.state == SESSION_SHUT)
		return error_set(err, ERR_CLOSED, "session '%s' was shut down", s->record.id);
	*ret = p;
	p = (struct place){-1, -1};
	return 0;
}

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* A descriptor that becomes readable when somebody shuts the session down. */
static int watch_stop(const struct session *s, const struct place *p, int *ret, struct error *err)
{
	autofree char *path = NULL, *dir = path_join(s->store->dir, s->record.id);
	autoclose int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	int stop = openat(p->dir, "stop", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *CLEANUP(close_dir) entries = stop < 0 ? NULL : fdopendir(stop);
	const struct dirent *d;

	path = path_join(dir, "stop");
	if (fd < 0 || !entries || inotify_add_watch(fd, path, IN_CREATE | IN_DELETE_SELF) < 0)
		return error_sys(err, "watch over the session");
	while ((d = readdir(entries)))
		if (d->d_name[0] != '.')
			return error_set(
				err, ERR_CLOSED, "session '%s' was shut down", s->record.id);
	*ret = take_fd(fd);
	return 0;
}

int session_exec(struct session *s, const struct sandbox_exec *x, struct sandbox_result *ret,
	struct error *err)
{
	auto_place struct place p = {-1, -1};
	struct sandbox_exec with_stop = *x;
	autoclose int stop = -1;

	if (!x->argv || !x->argv[0])
		return error_set(err, ERR_USAGE, "no program to run");
	if (hold(s, true, &p, err) < 0 || watch_stop(s, &p, &stop, err) < 0)
		return -1;
	with_stop.stop = stop;
	return s->sandbox.driver->exec(&s->sandbox, &with_stop, ret, err);
}

int session_read(struct session *s, const char *path, size_t max, char **ret, size_t *ret_len,
	struct error *err)
{
	auto_place struct place p = {-1, -1};

	return hold(s, false, &p, err) < 0
		       ? -1
		       : s->sandbox.driver->read(&s->sandbox, path, max, ret, ret_len, err);
}

int session_write(struct session *s, const char *path, const void *data, size_t len, unsigned mode,
	struct error *err)
{
	auto_place struct place p = {-1, -1};

	return hold(s, true, &p, err) < 0
		       ? -1
		       : s->sandbox.driver->write(&s->sandbox, path, data, len, mode, err);
}

int session_ls(struct session *s, const char *path, struct sandbox_names *ret, struct error *err)
{
	auto_place struct place p = {-1, -1};

	return hold(s, false, &p, err) < 0 ? -1
					   : s->sandbox.driver->ls(&s->sandbox, path, ret, err);
}

/* The record of the tree and its manifest. Until the store is closed it needs no root to stay. */
static int freeze(struct session *s, const struct snapshot_policy *policy, char ret[DIGEST_TEXT],
	struct error *err)
{
	auto_session_record struct session_record now = {0};
	auto_json json_t *manifest = NULL;
	auto_place struct place p = {-1, -1};
	struct cas *cas = NULL;
	char tree[DIGEST_TEXT];

	if (!(s->sandbox.driver->capabilities & SANDBOX_SNAPSHOT))
		return error_set(err, ERR_UNSUPPORTED, "the backend '%s' makes no snapshots",
			s->record.backend);
	/* Nobody else may work in it: a tree that changes has no digest. */
	if (place_open(s->store, s->record.id, PLACE_EXCLUSIVE, QUIET_MS, &p, err) < 0 ||
		read_record(&p, s->record.id, &now, err) < 0 ||
		session_store_cas(s->store, &cas, err) < 0 ||
		s->sandbox.driver->freeze(&s->sandbox, cas, policy, tree, err) < 0 ||
		json_read(s->record.manifest, strlen(s->record.manifest), MANIFEST_TEXT_MAX,
			&manifest, err) < 0)
		return -1;
	return snapshot_record_put(cas, tree, manifest, ret, err);
}

int session_snapshot(struct session *s, const struct snapshot_policy *policy, char ret[DIGEST_TEXT],
	struct error *err)
{
	char root[CAS_ROOT_MAX + 1];

	if (freeze(s, policy, ret, err) < 0)
		return -1;
	snprintf(root, sizeof(root), "snapshot-%s", strchr(ret, ':') + 1);
	return cas_root_set(s->store->cas, root, ret, err);
}

/* The manifest of a snapshot's record; a bare tree has the defaults. */
static int read_snapshot(struct session_store *s, const char *digest, char ret_tree[DIGEST_TEXT],
	struct manifest *ret, struct error *err)
{
	auto_json json_t *kept = NULL;
	autofree char *text = NULL;
	struct cas *cas = NULL;
	int found;

	if (session_store_cas(s, &cas, err) < 0)
		return -1;
	found = snapshot_record_find(cas, digest, ret_tree, &kept, err);
	if (found < 0)
		return -1;
	text = found ? json_text(kept) : mem_strdup("{}");
	return manifest_parse(text, strlen(text), "/", ret, err);
}

static int resume(struct session_store *s, const char *digest, struct beginning b,
	char ret_id[SESSION_ID_SIZE], struct error *err)
{
	auto_manifest struct manifest m = {0};
	char tree[DIGEST_TEXT], whole[DIGEST_TEXT];
	const struct sandbox_driver *d;

	if (!cas_digest_find(digest, whole))
		return error_set(err, ERR_USAGE, "'%.80s' is no digest of a snapshot", digest);
	if (sandbox_driver_find(b.backend, &d, err) < 0 ||
		read_snapshot(s, whole, tree, &m, err) < 0)
		return -1;
	m.requires |= SANDBOX_SNAPSHOT;
	b.manifest = &m;
	b.tree = tree;
	b.base = whole;
	return sandbox_check(d, &m, err) < 0 ? -1 : begin(s, &b, ret_id, err);
}

int session_resume(struct session_store *s, const char *digest, const char *backend, int64_t owner,
	char ret_id[SESSION_ID_SIZE], struct error *err)
{
	struct beginning b = {.backend = backend ? backend : "native", .owner = owner};

	return resume(s, digest, b, ret_id, err);
}

/* All or none. digest NULL: each is a copy of the parent, which is locked. */
static int make_forks(struct session *s, const char *digest, size_t count, int64_t owner,
	char (*ret_ids)[SESSION_ID_SIZE], struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		struct beginning b = {.backend = s->record.backend,
			.manifest = &s->sandbox.manifest,
			.parent = s,
			.owner = owner};
		struct error ignored;

		if ((digest ? resume(s->store, digest, b, ret_ids[i], err)
			    : begin(s->store, &b, ret_ids[i], err)) == 0)
			continue;
		while (i-- > 0)
			if (session_destroy(s->store, ret_ids[i], &ignored) < 0)
				continue;
		return -1;
	}
	return 0;
}

int session_fork(struct session *s, size_t count, int64_t owner, char (*ret_ids)[SESSION_ID_SIZE],
	struct error *err)
{
	struct snapshot_policy policy = {.git = SNAPSHOT_GIT_KEEP};
	auto_session_record struct session_record now = {0};
	auto_place struct place p = {-1, -1};
	char digest[DIGEST_TEXT];

	if (count < 1 || count > SESSION_FORKS_MAX)
		return error_set(
			err, ERR_USAGE, "a fork makes 1 to %d sessions", SESSION_FORKS_MAX);
	if (!s->sandbox.driver->copy)
		return freeze(s, &policy, digest, err) < 0
			       ? -1
			       : make_forks(s, digest, count, owner, ret_ids, err);
	/* Nobody else may work in it: half a change is nobody's tree. */
	if (place_open(s->store, s->record.id, PLACE_EXCLUSIVE, QUIET_MS, &p, err) < 0 ||
		read_record(&p, s->record.id, &now, err) < 0)
		return -1;
	return make_forks(s, NULL, count, owner, ret_ids, err);
}
