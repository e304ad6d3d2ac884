/* SPDX-License-Identifier: Apache-2.0 */
/* A record as the text of a line, and the name of the file that it goes to. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "audit/inside.h"
#include "base/beneath.h"
#include "base/mem.h"

/* Of every line, in the order in which they are written: sorted. */
static const char *const members[] = {"actor", "details", "event_type", "hmac", "prev_hmac",
	"resource_id", "resource_type", "timestamp"};
enum { MEMBERS = 8, HMAC = 3, TIMESTAMP_LEN = 27, FILES_MAX = 100000 };

static bool is_hmac(const char *s)
{
	return strlen(s) == DIGEST_HEX - 1 && strspn(s, "0123456789abcdef") == DIGEST_HEX - 1;
}

const char *audit_record_fault(const json_t *record)
{
	const char *text;

	if (!json_is_object(record))
		return "not an object";
	if (json_object_size(record) != MEMBERS)
		return "not the eight members of a record";
	for (int i = 0; i < MEMBERS; i++) {
		const json_t *value = json_object_get(record, members[i]);

		if (!value)
			return "not the eight members of a record";
		if (strcmp(members[i], "details") == 0 ? !json_is_object(value)
						       : !json_is_string(value))
			return "a member of another type";
	}
	if (!is_hmac(json_string_value(json_object_get(record, "hmac"))) ||
		!is_hmac(json_string_value(json_object_get(record, "prev_hmac"))))
		return "an HMAC that is not 64 hex digits";
	text = json_string_value(json_object_get(record, "timestamp"));
	if (strlen(text) != TIMESTAMP_LEN || text[10] != 'T' || text[TIMESTAMP_LEN - 1] != 'Z')
		return "a timestamp of another form";
	return NULL;
}

void audit_text_finish(struct audit_text *t)
{
	bytes_finish(&t->body);
}

void audit_text_write(struct audit_text *t, const json_t *record)
{
	t->body.len = 0;
	bytes_put_u8(&t->body, '{');
	for (int i = 0; i < MEMBERS; i++) {
		if (i == HMAC) {
			t->cut = t->body.len;
			continue;
		}
		bytes_put_u8(&t->body, '"');
		bytes_put(&t->body, members[i], strlen(members[i]));
		bytes_put(&t->body, "\": ", 3);
		json_write_as(&t->body, json_object_get(record, members[i]), JSON_SPACED);
		if (i + 1 < MEMBERS)
			bytes_put(&t->body, ", ", 2);
	}
	bytes_put_u8(&t->body, '}');
}

void audit_text_hmac(
	const struct audit *a, const struct audit_text *t, const char *prev, char ret[DIGEST_HEX])
{
	unsigned char raw[DIGEST_SIZE];

	digest_hmac(a->key, sizeof(a->key), prev, strlen(prev), t->body.data, t->body.len, raw);
	digest_hex(raw, ret);
}

void audit_text_line(const struct audit_text *t, const char *hmac, struct bytes *out)
{
	char member[96];

	snprintf(member, sizeof(member), "\"hmac\": \"%s\", ", hmac);
	bytes_put(out, t->body.data, t->cut);
	bytes_put(out, member, strlen(member));
	bytes_put(out, t->body.data + t->cut, t->body.len - t->cut);
	bytes_put_u8(out, '\n');
}

void audit_file_name(uint64_t real_ns, char ret[AUDIT_FILE_SIZE])
{
	time_t seconds = (time_t)(real_ns / 1000000000);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) ||
		strftime(ret, AUDIT_FILE_SIZE, "%Y-%m-%d.jsonl", &tm) != AUDIT_FILE_SIZE - 1)
		memcpy(ret, "9999-12-31.jsonl", AUDIT_FILE_SIZE);
}

bool audit_is_file(const char *name)
{
	static const char form[] = "dddd-dd-dd.jsonl";

	for (size_t i = 0; i < sizeof(form); i++)
		if (form[i] == 'd' ? name[i] < '0' || name[i] > '9' : name[i] != form[i])
			return false;
	return true;
}

int audit_files(const struct audit *a, struct beneath_names *ret, struct error *err)
{
	struct beneath_names all = {0};
	size_t kept = 0;

	if (beneath_list(a->dir, FILES_MAX, &all, err) < 0)
		return error_wrap(err, "list the audit log");
	for (size_t i = 0; i < all.count; i++) {
		char *name = all.items[i];

		if (!audit_is_file(name))
			continue;
		all.items[i] = all.items[kept];
		all.items[kept++] = name;
	}
	/* The others are freed with the list: they are past the ones that count. */
	for (size_t i = kept; i < all.count; i++)
		mem_cleanup(&all.items[i]);
	all.count = kept;
	*ret = all;
	return 0;
}
