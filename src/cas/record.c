/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot's record, the object beside the tree: see snapshot.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cas/inside.h"
#include "cas/snapshot.h"

#define FORMAT "sandglass.snapshot/1"
/* How its canonical JSON begins, since keys are sorted: what begins otherwise is none. */
#define BEGINNING "{\"format\":\"" FORMAT "\","

int snapshot_record_put(struct cas *c, const char *tree, const json_t *manifest,
	char ret[DIGEST_TEXT], struct error *err)
{
	static const struct cas_about about = {.content_type = SNAPSHOT_RECORD_TYPE};
	auto_json json_t *record = json_object();
	autofree char *text = NULL;
	char digest[DIGEST_TEXT];
	int there;

	if (cas_digest_parse(tree, digest, err) < 0)
		return -1;
	there = cas_hold(c, digest, err);
	if (there < 0)
		return -1;
	if (there == 0)
		return error_set(err, ERR_MISSING, "no tree %s for a record", digest);
	json_put(record, "format", json_str(FORMAT));
	json_put(record, "manifest", json_deep_copy(manifest));
	json_put(record, "tree", json_str(digest));
	text = json_text(record);
	if (strlen(text) > CAS_RECORD_MAX)
		return error_set(
			err, ERR_LIMIT, "a manifest of more than %d bytes", CAS_RECORD_MAX);
	return cas_put(c, text, strlen(text), &about, ret, err);
}

/* 1 when the object begins as a record does. Nothing of it is verified yet. */
static int looks_like(struct cas *c, const char *digest, struct error *err)
{
	auto_cas_reader struct cas_reader *r = NULL;
	char begin[sizeof(BEGINNING) - 1];
	size_t len = 0, n;
	int more = 1;

	if (cas_reader_open(c, digest, &r, err) < 0)
		return -1;
	if (cas_reader_size(r) > CAS_RECORD_MAX || cas_reader_size(r) < sizeof(begin))
		return 0;
	while (len < sizeof(begin) &&
		(more = cas_reader_next(r, begin + len, sizeof(begin) - len, &n, err)) > 0)
		len += n;
	if (more < 0)
		return -1;
	return len == sizeof(begin) && memcmp(begin, BEGINNING, sizeof(begin)) == 0;
}

int snapshot_record_find(struct cas *c, const char *digest, char ret_tree[DIGEST_TEXT],
	json_t **ret_manifest, struct error *err)
{
	auto_json json_t *record = NULL;
	autofree char *text = NULL, *again = NULL;
	json_t *manifest, *tree;
	char self[DIGEST_TEXT], found[DIGEST_TEXT];
	size_t len;
	int is_record;

	if (cas_digest_parse(digest, self, err) < 0)
		return -1;
	is_record = looks_like(c, self, err);
	if (is_record < 0)
		return -1;
	if (is_record == 0) {
		memcpy(ret_tree, self, DIGEST_TEXT);
		*ret_manifest = NULL;
		return 0;
	}
	if (cas_get(c, self, CAS_RECORD_MAX, &text, &len, err) < 0 ||
		json_read(text, len, CAS_RECORD_MAX, &record, err) < 0)
		return error_wrap(err, "the record %s", self);
	manifest = json_object_get(record, "manifest");
	tree = json_object_get(record, "tree");
	again = json_text(record);
	if (!manifest || !json_is_string(tree) || json_object_size(record) != 3 ||
		!cas_digest_find(json_string_value(tree), found) || strcmp(again, text) != 0)
		return error_set(err, ERR_FORMAT, "the record %s is malformed", self);
	memcpy(ret_tree, found, DIGEST_TEXT);
	*ret_manifest = json_incref(manifest);
	return 1;
}
