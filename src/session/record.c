/* SPDX-License-Identifier: Apache-2.0 */
/* A session's record: see record.h and docs/format/session. */
#include "session/record.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/proc.h"
#include "codec/json.h"

#define FORMAT "sandglass.session/1"
#define FILE_NAME "record.json"

enum { RECORD_MAX = 4 << 20 };

static const char *const state_names[] = {"creating", "ready", "shut", "destroying", "destroyed"};

const char *session_state_name(enum session_state state)
{
	return state_names[state];
}

void session_record_finish(struct session_record *r)
{
	free(r->backend);
	free(r->manifest);
	*r = (struct session_record){0};
}

bool session_id_is(const char *text)
{
	return strlen(text) == 14 && text[0] == 's' && text[1] == '-' &&
	       strspn(text + 2, "0123456789abcdef") == 12;
}

uint64_t session_process_start(int64_t pid)
{
	struct proc_stat st;

	return proc_stat_read(pid, &st) ? st.start : 0;
}

static char *encode(const struct session_record *r)
{
	auto_json json_t *value = json_object();

	json_put(value, "format", json_str(FORMAT));
	json_put(value, "id", json_str(r->id));
	json_put(value, "state", json_str(state_names[r->state]));
	json_put(value, "backend", json_str(r->backend));
	json_put(value, "manifest", json_str(r->manifest));
	json_put(value, "base", json_str(r->base));
	json_put(value, "parent", json_str(r->parent));
	json_put(value, "made", json_str(r->made));
	json_put(value, "created", json_u64(r->created_s));
	json_put(value, "owner", json_u64((uint64_t)r->owner));
	json_put(value, "owner_start", json_u64(r->owner_start));
	return json_text(value);
}

int session_record_write(int dir, const struct session_record *r, struct error *err)
{
	autofree char *text = encode(r);
	autoclose int fd = -1;

	/* Whoever writes holds the lock, so one name for the new file is enough. */
	fd = openat(
		dir, FILE_NAME ".new", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_sys(err, "write the session's record");
	if (fd_write_all(fd, text, strlen(text), err) < 0)
		return error_wrap(err, "write the session's record");
	if (fault_point("session: sync the record") < 0 || fsync(fd) < 0 ||
		fault_point("session: rename the record") < 0 ||
		renameat(dir, FILE_NAME ".new", dir, FILE_NAME) < 0 ||
		fault_point("session: sync its directory") < 0 || fsync(dir) < 0)
		return error_sys(err, "write the session's record");
	return 0;
}

static int take_string(const json_t *value, const char *key, const char **ret, struct error *err)
{
	*ret = json_string_value(json_object_get(value, key));
	return *ret ? 0 : error_set(err, ERR_FORMAT, "the session's record: no string '%s'", key);
}

static int take_number(const json_t *value, const char *key, uint64_t *ret, struct error *err)
{
	const json_t *item = json_object_get(value, key);

	if (!json_is_integer(item) || json_integer_value(item) < 0)
		return error_set(err, ERR_FORMAT, "the session's record: no number '%s'", key);
	*ret = (uint64_t)json_integer_value(item);
	return 0;
}

static int take_state(const char *name, enum session_state *ret, struct error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(state_names); i++)
		if (strcmp(state_names[i], name) == 0) {
			*ret = (enum session_state)i;
			return 0;
		}
	return error_set(err, ERR_FORMAT, "the session's record: no state '%.32s'", name);
}

/* A key that earlier records do not have. */
static int take_optional(
	const json_t *value, const char *key, char *ret, size_t size, struct error *err)
{
	const char *text = "";

	if (json_object_get(value, key) && take_string(value, key, &text, err) < 0)
		return -1;
	return (size_t)snprintf(ret, size, "%s", text) < size
		       ? 0
		       : error_set(err, ERR_FORMAT, "the session's record: malformed '%s'", key);
}

static int decode(const json_t *value, struct session_record *r, struct error *err)
{
	const char *format, *id, *state, *backend, *manifest, *base;
	uint64_t owner;

	if (take_string(value, "format", &format, err) < 0 ||
		take_string(value, "id", &id, err) < 0 ||
		take_string(value, "state", &state, err) < 0 ||
		take_string(value, "backend", &backend, err) < 0 ||
		take_string(value, "manifest", &manifest, err) < 0 ||
		take_string(value, "base", &base, err) < 0 ||
		take_number(value, "created", &r->created_s, err) < 0 ||
		take_number(value, "owner", &owner, err) < 0 ||
		take_number(value, "owner_start", &r->owner_start, err) < 0 ||
		take_state(state, &r->state, err) < 0)
		return -1;
	if (strcmp(format, FORMAT) != 0)
		return error_set(err, ERR_FORMAT,
			"the session's record is of format '%.40s', not " FORMAT, format);
	if (!session_id_is(id) || strlen(base) >= sizeof(r->base))
		return error_set(err, ERR_FORMAT, "the session's record: malformed id or base");
	snprintf(r->id, sizeof(r->id), "%s", id);
	snprintf(r->base, sizeof(r->base), "%s", base);
	if (take_optional(value, "parent", r->parent, sizeof(r->parent), err) < 0 ||
		take_optional(value, "made", r->made, sizeof(r->made), err) < 0)
		return -1;
	r->owner = (int64_t)owner;
	r->backend = mem_strdup(backend);
	r->manifest = mem_strdup(manifest);
	return 0;
}

int session_record_read(int dir, struct session_record *ret, struct error *err)
{
	auto_session_record struct session_record r = {0};
	auto_json json_t *value = NULL;
	autofree char *text = NULL;
	struct stat st;
	autoclose int fd = beneath_open_file(dir, FILE_NAME, &st);
	size_t len;

	if (fd < 0)
		return error_sys(err, "the session's record");
	if (fd_slurp(fd, RECORD_MAX, &text, &len, err) < 0 ||
		json_read(text, len, RECORD_MAX, &value, err) < 0)
		return error_wrap(err, "the session's record");
	if (decode(value, &r, err) < 0)
		return -1;
	*ret = r;
	r = (struct session_record){0};
	return 0;
}
