/* SPDX-License-Identifier: Apache-2.0 */
/* Sealing and opening signed statements: see envelope.h. */
#include "attest/envelope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attest/keyring.h"
#include "base/mem.h"

/* The largest integer of RFC 8785: a double holds every one up to it. */
#define INTEGER_MAX 9007199254740991LL

static const char alg[] = "EdDSA";

static bool integers_fit(const json_t *value)
{
	const char *key;
	json_t *item;

	if (json_is_integer(value))
		return json_integer_value(value) <= INTEGER_MAX &&
		       json_integer_value(value) >= -INTEGER_MAX;
	for (size_t i = 0; i < json_array_size(value); i++)
		if (!integers_fit(json_array_get(value, i)))
			return false;
	json_object_foreach((json_t *)(uintptr_t)value, key, item)
	{
		if (!integers_fit(item))
			return false;
	}
	return true;
}

/* "DSSEv1 SP LEN SP type SP LEN SP body", and the digest of the body. */
static void encode(const json_t *statement, struct bytes *ret, char digest[DIGEST_TEXT])
{
	struct bytes CLEANUP(bytes_finish) body = {0};
	char head[128];

	json_write_as(&body, statement, JSON_JCS);
	snprintf(head, sizeof(head), "DSSEv1 %zu %s %zu ", strlen(ENVELOPE_TYPE), ENVELOPE_TYPE,
		body.len);
	bytes_put(ret, head, strlen(head));
	bytes_put(ret, body.data, body.len);
	digest_of(body.data, body.len, digest);
}

int envelope_seal(const struct key *k, const json_t *statement, char **ret, struct error *err)
{
	struct bytes CLEANUP(bytes_finish) signed_text = {0}, text = {0};
	unsigned char signature[KEY_SIGNATURE_SIZE];
	char id[KEY_ID_SIZE], spki[DIGEST_TEXT], digest[DIGEST_TEXT];
	char x[BASE64URL_SIZE(KEY_PUBLIC_SIZE)], sig[BASE64URL_SIZE(KEY_SIGNATURE_SIZE)];
	auto_json json_t *file = json_object();
	json_t *envelope = json_object();
	unsigned char *bytes;
	struct key_public p;

	json_put(file, "envelope", envelope);
	json_put(file, "format", json_str(ENVELOPE_FORMAT));
	json_put(file, "statement", json_incref((json_t *)(uintptr_t)statement));
	if (!json_is_string(json_object_get(statement, "format")) || !integers_fit(statement))
		abort();
	encode(statement, &signed_text, digest);
	if (key_sign(k, signed_text.data, signed_text.len, signature, err) < 0)
		return -1;
	key_public(k, &p);
	key_id(&p, id);
	key_spki_digest(&p, spki);
	base64url_format(p.x, sizeof(p.x), x);
	base64url_format(signature, sizeof(signature), sig);
	json_put(envelope, "alg", json_str(alg));
	json_put(envelope, "keyid", json_str(id));
	json_put(envelope, "public_key", json_str(x));
	json_put(envelope, "signature", json_str(sig));
	json_put(envelope, "spki_digest", json_str(spki));
	json_put(envelope, "statement_digest", json_str(digest));
	json_write_as(&text, file, JSON_JCS);
	bytes_put(&text, "\n", 2);
	if (text.len > ENVELOPE_MAX)
		return error_set(err, ERR_LIMIT, "a signed statement of %zu bytes; the limit is %d",
			text.len, ENVELOPE_MAX);
	bytes = take_ptr(text.data);
	*ret = (char *)bytes;
	return 0;
}

void envelope_finish(struct envelope *e)
{
	json_decref(e->statement);
	*e = (struct envelope){0};
}

bool statement_check(
	const json_t *o, const char *what, const struct statement_member *rows, struct verdict *v)
{
	size_t count = 0;

	if (!json_is_object(o)) {
		verdict_add(v, VERDICT_MALFORMED, "%s is no object", what);
		return false;
	}
	for (; rows[count].name; count++) {
		const struct statement_member *row = &rows[count];
		const json_t *value = json_object_get(o, row->name);
		bool is_boolean = row->type == JSON_TRUE && json_is_boolean(value);

		if (!value) {
			verdict_add(v, VERDICT_MALFORMED, "%s has no '%s'", what, row->name);
			return false;
		}
		if (!is_boolean && json_typeof(value) != row->type &&
			!(row->nullable && json_is_null(value))) {
			verdict_add(v, VERDICT_MALFORMED, "'%s' of %s is of another type",
				row->name, what);
			return false;
		}
	}
	if (json_object_size(o) == count)
		return true;
	verdict_add(v, VERDICT_MALFORMED, "%s has a member that it should not have", what);
	return false;
}

static bool check_form(const json_t *file, struct verdict *v)
{
	static const struct statement_member outer[] = {{"envelope", JSON_OBJECT, false},
		{"format", JSON_STRING, false}, {"statement", JSON_OBJECT, false}, {0}};
	static const struct statement_member inner[] = {{"alg", JSON_STRING, false},
		{"keyid", JSON_STRING, false}, {"public_key", JSON_STRING, false},
		{"signature", JSON_STRING, false}, {"spki_digest", JSON_STRING, false},
		{"statement_digest", JSON_STRING, false}, {0}};
	const json_t *envelope = json_object_get(file, "envelope");

	if (!statement_check(file, "the file", outer, v) ||
		!statement_check(envelope, "the envelope", inner, v))
		return false;
	if (strcmp(json_string_value(json_object_get(file, "format")), ENVELOPE_FORMAT) != 0) {
		verdict_add(v, VERDICT_MALFORMED, "its format is '%s', not '%s'",
			json_string_value(json_object_get(file, "format")), ENVELOPE_FORMAT);
		return false;
	}
	if (strcmp(json_string_value(json_object_get(envelope, "alg")), alg) != 0) {
		verdict_add(v, VERDICT_MALFORMED, "its algorithm is '%s', not '%s'",
			json_string_value(json_object_get(envelope, "alg")), alg);
		return false;
	}
	if (!integers_fit(file)) {
		verdict_add(v, VERDICT_MALFORMED, "an integer beyond 2^53 - 1");
		return false;
	}
	return true;
}

/* The text that the value has, byte for byte. */
static void check_text(const json_t *file, const char *text, size_t len, struct verdict *v)
{
	struct bytes CLEANUP(bytes_finish) same = {0};
	size_t i = 0;

	json_write_as(&same, file, JSON_JCS);
	bytes_put_u8(&same, '\n');
	while (i < len && i < same.len && text[i] == (char)same.data[i])
		i++;
	if (i < len || i < same.len)
		verdict_add(v, VERDICT_NOT_CANONICAL, "at byte %zu", i);
}

static void check_anchor(
	const struct envelope_anchor *anchor, const char *id, const char *spki, struct verdict *v)
{
	if (!anchor->keyid && !anchor->jwks)
		verdict_add(v, VERDICT_NO_ANCHOR,
			"signed with %s: --expected-keyid or --jwks says whose it should be", id);
	/* The bare digits of the digest are taken too. */
	if (anchor->keyid && strcmp(anchor->keyid, id) != 0 && strcmp(anchor->keyid, spki) != 0 &&
		strcmp(anchor->keyid, spki + strlen("sha256:")) != 0)
		verdict_add(v, VERDICT_KEY_UNEXPECTED, "signed with %s, expected was %s", id,
			anchor->keyid);
	if (anchor->jwks) {
		struct key_public p;
		struct error err = {0};
		int found = jwks_find(anchor->jwks, id, &p, &err);

		if (found <= 0)
			verdict_add(v, VERDICT_KEY_UNEXPECTED, "%s: %s", id,
				found < 0 ? err.msg : "no key of the set");
	}
}

static void check_signature(const json_t *envelope, const json_t *statement,
	const struct envelope_anchor *anchor, struct envelope *ret, struct verdict *v)
{
	struct bytes CLEANUP(bytes_finish) signed_text = {0};
	unsigned char signature[KEY_SIGNATURE_SIZE];
	char spki[DIGEST_TEXT];
	struct key_public p;
	const char *said;

	encode(statement, &signed_text, ret->digest);
	said = json_string_value(json_object_get(envelope, "statement_digest"));
	if (strcmp(said, ret->digest) != 0)
		verdict_add(v, VERDICT_STATEMENT_DIGEST_WRONG, "it says %s, and is %s", said,
			ret->digest);
	if (!base64url_parse(
		    json_string_value(json_object_get(envelope, "public_key")), p.x, sizeof(p.x))) {
		verdict_add(v, VERDICT_MALFORMED, "'public_key' is not 32 bytes of base64url");
		return;
	}
	key_id(&p, ret->keyid);
	key_spki_digest(&p, spki);
	if (strcmp(json_string_value(json_object_get(envelope, "keyid")), ret->keyid) != 0 ||
		strcmp(json_string_value(json_object_get(envelope, "spki_digest")), spki) != 0)
		verdict_add(v, VERDICT_KEYID_WRONG, "the key is %s, %s", ret->keyid, spki);
	if (!base64url_parse(json_string_value(json_object_get(envelope, "signature")), signature,
		    sizeof(signature)))
		verdict_add(v, VERDICT_MALFORMED, "'signature' is not 64 bytes of base64url");
	else if (!key_verifies(&p, signed_text.data, signed_text.len, signature))
		verdict_add(v, VERDICT_SIGNATURE_WRONG, "key %s", ret->keyid);
	check_anchor(anchor, ret->keyid, spki, v);
}

bool envelope_open(const char *text, size_t len, const struct envelope_anchor *anchor,
	struct envelope *ret, struct verdict *v)
{
	auto_json json_t *file = NULL;
	struct error err = {0};
	json_t *statement;

	if (json_read(text, len, ENVELOPE_MAX, &file, &err) < 0) {
		verdict_add(v, VERDICT_MALFORMED, "%s", err.msg);
		return false;
	}
	if (!check_form(file, v))
		return false;
	check_text(file, text, len, v);
	statement = json_object_get(file, "statement");
	check_signature(json_object_get(file, "envelope"), statement, anchor, ret, v);
	if (!json_is_string(json_object_get(statement, "format"))) {
		verdict_add(v, VERDICT_MALFORMED, "the statement has no 'format'");
		return false;
	}
	ret->statement = json_incref(statement);
	return true;
}
