/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a store: see cas.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fd.h"
#include "cas/delta.h"
#include "cas/inside.h"
#include "cas/list.h"

enum { SHARD_MAX = 50000000 };

bool cas_is_shard(const char *name)
{
	return strlen(name) == 2 && strspn(name, "0123456789abcdef") == 2;
}

/* 1 when the name is an object's in the shard, in either form. */
static bool is_object(const char *shard, const char *name, bool *ret_delta)
{
	size_t len = strlen(name);

	*ret_delta = len == CAS_HEX + 6 && strcmp(name + CAS_HEX, ".delta") == 0;
	return (len == CAS_HEX || *ret_delta) && memcmp(name, shard, 2) == 0 &&
	       strspn(name, "0123456789abcdef") == CAS_HEX;
}

static void look(int shard, const char *name, bool is_delta, struct cas_entry *e)
{
	struct stat st;
	char base[DIGEST_TEXT];
	autoclose int fd = -1;

	*e = (struct cas_entry){0};
	snprintf(e->digest, sizeof(e->digest), "sha256:%.64s", name);
	/* Even what cannot be opened is listed: `verify` says what is wrong with it. */
	if (fstatat(shard, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		e->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
		e->stored = (uint64_t)st.st_blocks * 512;
	}
	if (is_delta) {
		fd = cas_file_open(shard, name, &st);
		if (fd < 0 || delta_read_header(fd, base, &e->size, NULL) < 0)
			e->size = 0;
	}
	cas_sidecar_read(shard, cas_hex(e->digest), e);
}

int cas_list_shard(int dir, const char *name, cas_visit *visit, void *context, struct error *err)
{
	auto_names struct beneath_names names = {0};
	autoclose int shard = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const char *last = "";

	if (shard < 0)
		return errno == ENOENT ? 0 : error_sys(err, "open '%s' of the store", name);
	if (beneath_list(shard, SHARD_MAX, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		struct cas_entry e;
		bool is_delta;

		/* Of both forms the plain one counts, and sorts first. */
		if (!is_object(name, names.items[i], &is_delta) ||
			strncmp(last, names.items[i], CAS_HEX) == 0)
			continue;
		last = names.items[i];
		look(shard, names.items[i], is_delta, &e);
		if (visit(context, &e, err) < 0)
			return -1;
	}
	return 0;
}

int cas_list(struct cas *c, cas_visit *visit, void *context, struct error *err)
{
	auto_names struct beneath_names names = {0};

	if (beneath_list(c->root, SHARD_MAX, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		if (cas_is_shard(names.items[i]) &&
			cas_list_shard(c->root, names.items[i], visit, context, err) < 0)
			return -1;
	return 0;
}
