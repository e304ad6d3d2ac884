/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 and HKDF give what their standards' test vectors say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "crypto/digest.h"

static void hex(const unsigned char *p, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++)
		snprintf(out + 2 * i, 3, "%02x", p[i]);
}

/* FIPS 180-4 examples. */
static void sha256_of_known_texts(void **state)
{
	char text[DIGEST_TEXT];

	(void)state;
	digest_of("", 0, text);
	assert_string_equal(
		text, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	digest_of("abc", 3, text);
	assert_string_equal(
		text, "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void a_stream_goes_on_after_its_text(void **state)
{
	auto_digest struct digest *d = digest_new();
	char whole[DIGEST_TEXT], part[DIGEST_TEXT];

	(void)state;
	digest_update(d, "a", 1);
	digest_text(d, part);
	digest_update(d, "bc", 2);
	digest_text(d, part);
	digest_of("abc", 3, whole);
	assert_string_equal(part, whole);
}

/* RFC 5869, test case 3: empty salt and info; and that info counts. */
static void hkdf_of_rfc5869(void **state)
{
	unsigned char ikm[22], out[42], other[42];
	char text[85];

	(void)state;
	memset(ikm, 0x0b, sizeof(ikm));
	digest_hkdf(ikm, sizeof(ikm), "", out, sizeof(out));
	hex(out, sizeof(out), text);
	assert_string_equal(text, "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
				  "9d201395faa4b61a96c8");
	digest_hkdf(ikm, sizeof(ikm), "x", other, sizeof(other));
	assert_memory_not_equal(out, other, sizeof(out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sha256_of_known_texts),
		cmocka_unit_test(a_stream_goes_on_after_its_text),
		cmocka_unit_test(hkdf_of_rfc5869),
	};

	return cmocka_run_group_tests_name("digest", tests, NULL, NULL);
}
