/* SPDX-License-Identifier: Apache-2.0 */
/* Keys have the names and signatures that the RFCs give, and their files let nobody else in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "crypto/key.h"
#include "scratch.h"

/* The key and the thumbprint of RFC 8037, appendix A. */
static void names_are_those_of_rfc8037(void **state)
{
	struct key_public p;
	char id[KEY_ID_SIZE], spki[DIGEST_TEXT];

	(void)state;
	assert_true(
		base64url_parse("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", p.x, sizeof(p.x)));
	key_id(&p, id);
	assert_string_equal(id, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
	/* What `openssl pkey -pubin -outform DER | sha256sum` says of that key. */
	key_spki_digest(&p, spki);
	assert_string_equal(
		spki, "sha256:06e3fd8fda29bb60ab59557de61edb0aecdb231134be30e75b455f8e1b792fa9");
}

/* RFC 8032, section 7.1, test 2. */
static void a_signature_of_rfc8032_verifies(void **state)
{
	static const struct key_public p = {{0x3d, 0x40, 0x17, 0xc3, 0xe8, 0x43, 0x89, 0x5a, 0x92,
		0xb7, 0x0a, 0xa7, 0x4d, 0x1b, 0x7e, 0xbc, 0x9c, 0x98, 0x2c, 0xcf, 0x2e, 0xc4, 0x96,
		0x8c, 0xc0, 0xcd, 0x55, 0xf1, 0x2a, 0xf4, 0x66, 0x0c}};
	unsigned char signature[KEY_SIGNATURE_SIZE] = {0x92, 0xa0, 0x09, 0xa9, 0xf0, 0xd4, 0xca,
		0xb8, 0x72, 0x0e, 0x82, 0x0b, 0x5f, 0x64, 0x25, 0x40, 0xa2, 0xb2, 0x7b, 0x54, 0x16,
		0x50, 0x3f, 0x8f, 0xb3, 0x76, 0x22, 0x23, 0xeb, 0xdb, 0x69, 0xda, 0x08, 0x5a, 0xc1,
		0xe4, 0x3e, 0x15, 0x99, 0x6e, 0x45, 0x8f, 0x36, 0x13, 0xd0, 0xf1, 0x1d, 0x8c, 0x38,
		0x7b, 0x2e, 0xae, 0xb4, 0x30, 0x2a, 0xee, 0xb0, 0x0d, 0x29, 0x16, 0x12, 0xbb, 0x0c,
		0x00};

	(void)state;
	assert_true(key_verifies(&p, "r", 1, signature));
	assert_false(key_verifies(&p, "s", 1, signature));
	signature[63] ^= 0x10;
	assert_false(key_verifies(&p, "r", 1, signature));
}

static void base64url_has_one_text_a_value(void **state)
{
	char text[BASE64URL_SIZE(3)];
	unsigned char bytes[3];

	(void)state;
	base64url_format("\xff\xfe", 2, text);
	assert_string_equal(text, "__4");
	assert_true(base64url_parse("__4", bytes, 2));
	assert_memory_equal(bytes, "\xff\xfe", 2);
	assert_false(base64url_parse("__5", bytes, 2)); /* bits left over */
	assert_false(base64url_parse("__4=", bytes, 2));
	assert_false(base64url_parse("//4", bytes, 2));
	assert_false(base64url_parse("__4", bytes, 3));
	assert_false(base64url_parse("_ 4", bytes, 2));
}

static int secret(void *context, char **ret, struct error *err)
{
	(void)err;
	*ret = mem_strdup(context);
	return 0;
}

static void a_key_comes_back_from_its_file(void **state)
{
	const struct scratch *s = *state;
	autoclose int dir = scratch_dir(s, "keys");
	auto_key struct key *k = NULL, *same = NULL;
	struct key_public p, q, r;
	unsigned char signature[KEY_SIGNATURE_SIZE];
	struct error err = {0};
	char word[] = "open sesame";

	assert_int_equal(key_new(&k, &err), 0);
	key_public(k, &p);
	assert_int_equal(key_write(k, dir, "plain", NULL, &err), 0);
	assert_int_equal(key_write(k, dir, "plain", NULL, &err), -1);
	assert_int_equal(key_read(dir, "plain", NULL, NULL, &same, &err), 0);
	key_public(same, &q);
	assert_memory_equal(&p, &q, sizeof(p));
	assert_int_equal(key_read_public(dir, "plain", &r, &err), 0);
	assert_memory_equal(&p, &r, sizeof(p));
	assert_int_equal(key_sign(same, "text", 4, signature, &err), 0);
	assert_true(key_verifies(&p, "text", 4, signature));
	key_cleanup(&same);
	assert_int_equal(key_write(k, dir, "sealed", word, &err), 0);
	assert_int_equal(key_read(dir, "sealed", secret, word, &same, &err), 0);
	key_public(same, &q);
	assert_memory_equal(&p, &q, sizeof(p));
	key_cleanup(&same);
	word[0] = 'O';
	assert_int_equal(key_read(dir, "sealed", secret, word, &same, &err), -1);
	assert_non_null(strstr(err.msg, "wrong passphrase"));
	assert_int_equal(key_read(dir, "sealed", NULL, NULL, &same, &err), -1);
	assert_int_equal(err.code, ERR_USAGE);
	/* The public half needs nobody. */
	assert_int_equal(key_read_public(dir, "sealed", &r, &err), 0);
	assert_int_equal(scratch_shell(s, "! grep -q sesame keys/* && "
					  "grep -q 'ENCRYPTED PRIVATE' keys/sealed"),
		0);
}

static void refused(const struct scratch *s, int dir, const char *shell, const char *why)
{
	auto_key struct key *k = NULL;
	struct error err = {0};

	assert_int_equal(scratch_shell(s, shell), 0);
	assert_int_equal(key_read(dir, "k", NULL, NULL, &k, &err), -1);
	if (!strstr(err.msg, why))
		fail_msg("'%s' is not in '%s'", why, err.msg);
}

static void files_that_others_reach_are_refused(void **state)
{
	const struct scratch *s = *state;
	autoclose int dir = scratch_dir(s, "keys");
	auto_key struct key *k = NULL;
	struct error err = {0};

	assert_int_equal(key_new(&k, &err), 0);
	assert_int_equal(key_write(k, dir, "real", NULL, &err), 0);
	refused(s, dir, "ln -s real keys/k", "symbolic link");
	refused(s, dir, "rm keys/k; cp keys/real keys/k; chmod 640 keys/k", "chmod 600");
	refused(s, dir, "chmod 602 keys/k", "chmod 600");
	refused(s, dir, "rm keys/k; mkfifo -m 600 keys/k", "no regular file");
	refused(s, dir, "rm keys/k; mkdir -m 700 keys/k", "no regular file");
	refused(s, dir, "rmdir keys/k; (umask 077; echo nothing >keys/k)", "no Ed25519");
	refused(s, dir,
		"(umask 077; openssl genpkey -algorithm RSA -pkeyopt "
		"rsa_keygen_bits:1024 >keys/k 2>/dev/null)",
		"no Ed25519");
	refused(s, dir, "(umask 077; head -c 100000 /dev/zero >keys/k)", "key file");
	if (geteuid() == 0)
		refused(s, dir, "cp keys/real keys/k; chmod 600 keys/k; chown 12345 keys/k",
			"belongs to user 12345");
	refused(s, dir, "rm keys/k", "No such file");
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
	static const struct CMUnitTest tests[] = {
		CASE(names_are_those_of_rfc8037),
		CASE(a_signature_of_rfc8032_verifies),
		CASE(base64url_has_one_text_a_value),
		CASE(a_key_comes_back_from_its_file),
		CASE(files_that_others_reach_are_refused),
	};

	return cmocka_run_group_tests_name("key", tests, NULL, NULL);
}
