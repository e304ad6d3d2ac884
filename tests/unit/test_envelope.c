/* SPDX-License-Identifier: Apache-2.0 */
/* A signed statement opens as what was sealed, and as nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "attest/envelope.h"
#include "attest/keyring.h"
#include "attest/receipt.h"
#include "attest/tried.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "scratch.h"

static json_t *statement(void)
{
	json_t *o = json_object();

	json_put(o, "format", json_str("test/1"));
	json_put(o, "n", json_u64(7));
	json_put(o, "text", json_str("\xe2\x82\xac"));
	return o;
}

static enum verdict_class look(const char *text, size_t len, const struct envelope_anchor *anchor)
{
	struct verdict CLEANUP(verdict_finish) v;
	struct envelope CLEANUP(envelope_finish) e = {0};

	verdict_init(&v);
	envelope_open(text, len, anchor, &e, &v);
	return v.worst;
}

/* The first reason's code (borrowed from v). */
static const char *code_of(const struct verdict *v)
{
	const char *code =
		json_string_value(json_object_get(json_array_get(v->reasons, 0), "code"));

	return code ? code : "";
}

static void what_was_sealed_opens(void **state)
{
	auto_json json_t *s = statement();
	auto_key struct key *k = NULL;
	autofree char *text = NULL, *again = NULL;
	struct key_public p;
	char id[KEY_ID_SIZE], spki[DIGEST_TEXT];
	struct envelope_anchor anchor = {.keyid = id};
	struct error err = {0};

	(void)state;
	assert_int_equal(key_new(&k, &err), 0);
	key_public(k, &p);
	key_id(&p, id);
	key_spki_digest(&p, spki);
	assert_int_equal(envelope_seal(k, s, &text, &err), 0);
	assert_int_equal(envelope_seal(k, s, &again, &err), 0);
	assert_string_equal(text, again);
	assert_int_equal(look(text, strlen(text), &anchor), VERDICT_VERIFIED);
	anchor.keyid = spki;
	assert_int_equal(look(text, strlen(text), &anchor), VERDICT_VERIFIED);
	anchor.keyid = spki + 7;
	assert_int_equal(look(text, strlen(text), &anchor), VERDICT_VERIFIED);
	anchor.keyid = NULL;
	assert_int_equal(look(text, strlen(text), &anchor), VERDICT_UNANCHORED);
	anchor.keyid = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";
	assert_int_equal(look(text, strlen(text), &anchor), VERDICT_FAILED);
}

/* Every byte of the file, changed to each of two others: nothing of it goes unseen. */
static void no_byte_can_be_changed(void **state)
{
	auto_json json_t *s = statement();
	auto_key struct key *k = NULL;
	autofree char *text = NULL;
	struct envelope_anchor none = {0};
	struct error err = {0};
	size_t len;

	(void)state;
	assert_int_equal(key_new(&k, &err), 0);
	assert_int_equal(envelope_seal(k, s, &text, &err), 0);
	len = strlen(text);
	for (size_t i = 0; i < len; i++) {
		char was = text[i];

		text[i] = (char)(was ^ 1);
		if (look(text, len, &none) != VERDICT_FAILED)
			fail_msg("byte %zu '%c' became '%c' unseen", i, was, text[i]);
		text[i] = was == ' ' ? 'x' : ' ';
		if (look(text, len, &none) != VERDICT_FAILED)
			fail_msg("byte %zu became blank unseen", i);
		text[i] = was;
		if (look(text, i, &none) != VERDICT_FAILED)
			fail_msg("cut at byte %zu unseen", i);
	}
	assert_int_equal(look(text, len, &none), VERDICT_UNANCHORED);
}

static void a_set_of_keys_anchors(void **state)
{
	static const struct {
		const char *set, *code;
	} rows[] = {
		{"{\"keys\":[]}", "key_unexpected"},
		{"{\"keys\":{}}", "key_unexpected"},
		{"[]", "key_unexpected"},
		{"{\"keys\":[1]}", "key_unexpected"},
		{"{\"keys\":[{\"kty\":\"RSA\"}]}", "key_unexpected"},
		{"{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"short\"}]}",
			"key_unexpected"},
	};
	auto_json json_t *s = statement(), *own = NULL;
	auto_key struct key *k = NULL;
	autofree char *text = NULL;
	struct key_public p;
	struct error err = {0};

	(void)state;
	assert_int_equal(key_new(&k, &err), 0);
	key_public(k, &p);
	own = jwks_of(&p);
	assert_int_equal(envelope_seal(k, s, &text, &err), 0);
	assert_int_equal(
		look(text, strlen(text), &(struct envelope_anchor){.jwks = own}), VERDICT_VERIFIED);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct verdict CLEANUP(verdict_finish) v;
		struct envelope CLEANUP(envelope_finish) e = {0};
		auto_json json_t *set = NULL;

		verdict_init(&v);
		assert_int_equal(json_read(rows[i].set, strlen(rows[i].set), 4096, &set, &err), 0);
		envelope_open(text, strlen(text), &(struct envelope_anchor){.jwks = set}, &e, &v);
		assert_string_equal(code_of(&v), rows[i].code);
	}
	/* A key that calls itself by another's name. */
	json_object_set_new(json_array_get(json_object_get(own, "keys"), 0), "kid",
		json_string("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"));
	assert_int_equal(jwks_find(own, "", &p, &err), -1);
}

static int fail_at(void *context, const char *step)
{
	int *left = context;

	(void)step;
	return --*left == 0 ? -1 : 0;
}

static void a_rotation_that_fails_loses_no_key(void **state)
{
	const struct scratch *s = *state;
	autofree char *dir = scratch_path(s, "keys");
	struct key_public first, p, old;
	char id[KEY_ID_SIZE];
	struct error err = {0};
	int left;

	assert_int_equal(keyring_public(dir, &p, &err), 0);
	assert_int_equal(keyring_rotate(dir, NULL, &p, NULL, &err), -1);
	assert_int_equal(keyring_make(dir, NULL, &first, &err), 0);
	assert_int_equal(keyring_make(dir, NULL, &p, &err), -1);
	for (int step = 1; step <= 2; step++) {
		left = step;
		fault_watch(fail_at, &left);
		assert_int_equal(keyring_rotate(dir, NULL, &p, NULL, &err), -1);
		fault_watch(NULL, NULL);
		assert_int_equal(keyring_public(dir, &p, &err), 1);
		assert_memory_equal(&p, &first, sizeof(p));
	}
	assert_int_equal(keyring_rotate(dir, NULL, &p, &old, &err), 0);
	assert_memory_equal(&old, &first, sizeof(old));
	for (int i = 0; i < 2; i++) {
		auto_json json_t *set = NULL;
		struct key_public found;

		key_id(i ? &p : &first, id);
		assert_int_equal(keyring_jwks(dir, &set, &err), 0);
		assert_int_equal(jwks_find(set, id, &found, &err), 1);
	}
	assert_int_equal(
		scratch_shell(s, "[ \"$(ls -A keys | xargs)\" = 'jwks.json signing.pem' ]"), 0);
}

/* The receipt of a trial with one member of its report, or all packs, replaced. */
static enum verdict_class tried(const char *member, json_t *value)
{
	struct verdict CLEANUP(verdict_finish) v;
	auto_json json_t *report = json_object(), *o = NULL;
	json_t *packs = json_array();
	char digest[DIGEST_TEXT];

	digest_of("a pack", 6, digest);
	json_add(packs, json_str(digest));
	json_put(report, "outcome", json_str("completed"));
	json_put(report, "fork_run_id", json_str("01J8ZQ4Y6M3N5P7R9T1V3X5Z7A"));
	json_put(report, "events_appended", json_integer(2));
	json_put(report, "behavior_failures", json_integer(0));
	json_put(report, "detail", json_str(""));
	json_put(report, "exit_code", json_integer(0));
	json_put(report, "warnings", json_array());
	json_put(report, "limits", json_object());
	o = tried_statement(report, packs, "run", NULL, NULL);
	if (member)
		json_put(strcmp(member, "packs") == 0 ? o : json_object_get(o, "report"), member,
			value);
	verdict_init(&v);
	(void)tried_check(o, &v);
	return v.worst;
}

static void a_trial_that_contradicts_itself_fails(void **state)
{
	json_t *bad = json_array();

	(void)state;
	json_add(bad, json_str("latest"));
	assert_int_equal(tried(NULL, NULL), VERDICT_VERIFIED);
	assert_int_equal(tried("outcome", json_str("crashed")), VERDICT_VERIFIED);
	assert_int_equal(tried("outcome", json_str("accepted")), VERDICT_FAILED);
	assert_int_equal(tried("exit_code", json_integer(1)), VERDICT_FAILED);
	assert_int_equal(tried("exit_code", json_null()), VERDICT_FAILED);
	assert_int_equal(tried("behavior_failures", json_integer(3)), VERDICT_FAILED);
	assert_int_equal(tried("events_appended", json_integer(-1)), VERDICT_FAILED);
	assert_int_equal(tried("packs", json_array()), VERDICT_FAILED);
	assert_int_equal(tried("packs", bad), VERDICT_FAILED);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
	static const struct CMUnitTest tests[] = {
		CASE(what_was_sealed_opens),
		CASE(no_byte_can_be_changed),
		CASE(a_set_of_keys_anchors),
		CASE(a_rotation_that_fails_loses_no_key),
		CASE(a_trial_that_contradicts_itself_fails),
	};

	return cmocka_run_group_tests_name("envelope", tests, NULL, NULL);
}
