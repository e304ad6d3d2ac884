/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last steps of a put: see publish.h.
 *
 * How it works. The digest is pinned before anything else, so that no gc from then on takes the
 * object away. The file is synced before it is renamed to its name, and the directory afterwards:
 * whoever sees the name sees the whole, also after the machine stopped. The sidecar comes second;
 * an object without one is an object.
 */
#include "cas/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/fd.h"

static bool is_there(int dir, const char *name)
{
	return faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int put_in_place(struct cas *c, int shard, const struct publish *p, struct error *err)
{
	char delta[CAS_NAME_MAX];

	snprintf(delta, sizeof(delta), "%s.delta", p->hex);
	if (fchmod(p->fd, 0444) < 0 || fault_point("cas: sync") < 0 || fsync(p->fd) < 0)
		return error_sys(err, "write an object");
	if (fault_point("cas: rename") < 0 ||
		renameat(c->tmp, p->tmp, shard, p->is_delta ? delta : p->hex) < 0)
		return error_sys(err, "put an object into the store");
	/* A damaged one in the other form; what is plain counts. */
	if (!p->is_delta && unlinkat(shard, delta, 0) < 0 && errno != ENOENT)
		return error_sys(err, "remove a damaged object");
	return 0;
}

static int sync_shard(int shard, struct error *err)
{
	if (fault_point("cas: sync a shard") < 0 || fsync(shard) < 0)
		return error_sys(err, "sync the store");
	return 0;
}

int publish(
	struct cas *c, const struct publish *p, const struct cas_about *about, struct error *err)
{
	autoclose int shard = -1;
	char digest[DIGEST_TEXT], sidecar[CAS_NAME_MAX];
	int r = -1;

	snprintf(digest, sizeof(digest), "sha256:%s", p->hex);
	snprintf(sidecar, sizeof(sidecar), "%s.meta.json", p->hex);
	if (cas_pin(c, p->hex, err) < 0 || cas_shard_make(c, p->hex, &shard, err) < 0) {
		unlinkat(c->tmp, p->tmp, 0);
		return -1;
	}
	if (cas_verify(c, digest, NULL, NULL) == CAS_INTACT) {
		if (fault_point("cas: drop a duplicate") == 0)
			r = 0;
		else
			error_sys(err, "drop a duplicate");
		unlinkat(c->tmp, p->tmp, 0);
	} else if (p->is_delta && is_there(shard, p->hex)) {
		return 1;
	} else {
		r = put_in_place(c, shard, p, err);
		if (r < 0)
			unlinkat(c->tmp, p->tmp, 0);
	}
	if (r < 0)
		return -1;
	if (!is_there(shard, sidecar) &&
		cas_sidecar_write(c, shard, p->hex, p->size, about, err) < 0)
		return -1;
	return sync_shard(shard, err);
}
