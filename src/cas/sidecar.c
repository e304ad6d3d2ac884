/* SPDX-License-Identifier: Apache-2.0 */
/* What a writer said of an object, beside it: a description that proves nothing. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/str.h"
#include "cas/inside.h"

static json_t *read_json(int shard, const char *hex)
{
	char name[CAS_NAME_MAX];
	autofree char *text = NULL;
	autoclose int fd = -1;
	json_t *value = NULL;
	struct stat st;
	size_t len;

	snprintf(name, sizeof(name), "%s.meta.json", hex);
	fd = cas_file_open(shard, name, &st);
	if (fd < 0 || fd_slurp(fd, CAS_RECORD_MAX, &text, &len, NULL) < 0)
		return NULL;
	while (len > 0 && text[len - 1] == '\n')
		len--;
	return json_read(text, len, CAS_RECORD_MAX, &value, NULL) < 0 ? NULL : value;
}

void cas_sidecar_read(int shard, const char *hex, struct cas_entry *e)
{
	auto_json json_t *value = read_json(shard, hex);
	const json_t *type = json_object_get(value, "content_type"),
		     *created = json_object_get(value, "created_at");

	if (json_is_integer(created) && json_integer_value(created) > 0)
		e->created_s = (uint64_t)json_integer_value(created);
	if (json_is_string(type)) {
		autofree char *safe = str_printable(
			json_string_value(type), json_string_length(type), sizeof(e->content_type));

		snprintf(e->content_type, sizeof(e->content_type), "%s", safe);
	}
}

int cas_sidecar_write(struct cas *c, int shard, const char *hex, uint64_t size,
	const struct cas_about *about, struct error *err)
{
	auto_json json_t *value = json_object();
	autofree char *text = NULL;
	char name[CAS_NAME_MAX];

	json_put(value, "digest", json_str(hex));
	json_put(value, "size_bytes", json_u64(size));
	json_put(value, "created_at", json_u64(clock_host_real_ns() / NUM_SECOND_NS));
	json_put(value, "content_type",
		json_str(about && about->content_type ? about->content_type
						      : "application/octet-stream"));
	json_put(value, "metadata",
		about && about->metadata ? json_deep_copy(about->metadata) : json_object());
	text = json_text(value);
	snprintf(name, sizeof(name), "%s.meta.json", hex);
	return cas_file_replace(c, shard, name, text, strlen(text), err);
}
