/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs of `sandglass session` share: see session.h. */
#include "cli/session.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "codec/json.h"

int cli_session_fail(const struct error *err)
{
	switch ((int)err->code) {
	case ERR_MISSING:
	case ERR_ESCAPE:
	case ERR_IS_DIR:
	case ERR_NOT_DIR:
	case ERR_CLOSED:
	case ERR_BUSY:
	case ERR_TAMPERED:
	case ERR_LIMIT:
		return cli_fail(err, STATUS_NO);
	default:
		return cli_fail(err, STATUS_USAGE);
	}
}

bool cli_words_are(char **words, size_t least, size_t most, const char *usage)
{
	autofree char *line = NULL;
	size_t count = 0;

	while (words[count])
		count++;
	if (count >= least && count <= most)
		return true;
	line = str_format("usage: sandglass %s", usage);
	cli_say(line);
	return false;
}

void cli_print_one(bool json, const char *key, const char *value)
{
	auto_json json_t *object = json_object();
	autofree char *text = NULL;

	if (!json) {
		printf("%s\n", value);
		return;
	}
	json_put(object, key, json_str(value));
	text = json_text(object);
	printf("%s\n", text);
}

json_t *cli_session_json(const struct session_record *r)
{
	json_t *object = json_object(), *manifest = NULL;
	struct error err = {0};

	if (json_read(r->manifest, strlen(r->manifest), MANIFEST_TEXT_MAX, &manifest, &err) < 0)
		manifest = json_null();
	json_put(object, "id", json_str(r->id));
	json_put(object, "state", json_str(session_state_name(r->state)));
	json_put(object, "backend", json_str(r->backend));
	json_put(object, "created", json_u64(r->created_s));
	json_put(object, "base", r->base[0] ? json_str(r->base) : json_null());
	json_put(object, "parent", r->parent[0] ? json_str(r->parent) : json_null());
	json_put(object, "made", r->made[0] ? json_str(r->made) : json_null());
	json_put(object, "owner", r->owner ? json_u64((uint64_t)r->owner) : json_null());
	json_put(object, "manifest", manifest);
	return object;
}

int cli_read_input(const char *path, size_t max, char **ret, size_t *ret_len, struct error *err)
{
	autoclose int fd = -1;

	if (strcmp(path, "-") == 0)
		return fd_slurp(STDIN_FILENO, max, ret, ret_len, err) < 0
			       ? error_wrap(err, "standard input")
			       : 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return error_sys(err, "open '%.300s'", path);
	return fd_slurp(fd, max, ret, ret_len, err) < 0 ? error_wrap(err, "'%.300s'", path) : 0;
}
