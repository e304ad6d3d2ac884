/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's randomness: ChaCha20 against its published vectors, and how the stream is addressed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/chacha20.h"
#include "supervise/engine/entropy.h"
#include "supervise/main.h"

static const struct contract contract;

const struct contract *contract_get(void)
{
	return &contract;
}

static void keystream_is_the_published_one(void **state)
{
	/* draft-strombergson-chacha-test-vectors-01, TC1 (key and IV all zero, 20 rounds, 256-bit
	 * key) */
	static const unsigned char key[32],
		block0[16] = {0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90, 0x40, 0x5d, 0x6a,
			0xe5, 0x53, 0x86, 0xbd, 0x28};
	static const unsigned char block1[8] = {0x9f, 0x07, 0xe7, 0xbe, 0x55, 0x51, 0x38, 0x7a};
	unsigned char out[128];

	(void)state;
	chacha20_stream(key, 0, 0, out, sizeof(out));
	assert_memory_equal(out, block0, sizeof(block0));
	assert_memory_equal(out + 64, block1, sizeof(block1));
}

static void a_nonce_changes_the_stream(void **state)
{
	/* The same, TC4: IV 01 00 00 00 00 00 00 00 has its bit in the first byte of the nonce. */
	static const unsigned char key[32];
	unsigned char a[64], b[64];

	(void)state;
	chacha20_stream(key, 0, 0, a, sizeof(a));
	chacha20_stream(key, 1, 0, b, sizeof(b));
	assert_memory_not_equal(a, b, sizeof(a));
}

static void a_stream_continues_at_its_counter(void **state)
{
	unsigned char key[32], whole[200], tail[72];

	(void)state;
	memset(key, 7, sizeof(key));
	chacha20_stream(key, 5, 1ull << 32, whole, sizeof(whole));
	chacha20_stream(key, 5, (1ull << 32) + 2, tail, sizeof(tail));
	assert_memory_equal(whole + 128, tail, sizeof(tail));
}

static void fixed_values_are_draws_of_process_zero(void **state)
{
	unsigned char key[32], want[16], got[16];

	(void)state;
	memset(key, 9, sizeof(key));
	entropy_init(key);
	chacha20_stream(key, 0, 1ull << 32, want, sizeof(want));
	entropy_fixed(1, got, sizeof(got));
	assert_memory_equal(want, got, sizeof(want));
}

static void a_uuid_is_version_4(void **state)
{
	static const unsigned char bytes[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	char text[37];

	(void)state;
	entropy_uuid(bytes, text);
	assert_string_equal(text, "ffffffff-ffff-4fff-bfff-ffffffffffff");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keystream_is_the_published_one),
		cmocka_unit_test(a_nonce_changes_the_stream),
		cmocka_unit_test(a_stream_continues_at_its_counter),
		cmocka_unit_test(fixed_values_are_draws_of_process_zero),
		cmocka_unit_test(a_uuid_is_version_4),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
