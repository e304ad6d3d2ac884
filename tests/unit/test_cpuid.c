/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU model that guests see is fixed, hides what cannot be trapped, and is no more than the
 * host. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <cpuid.h>
#include <stdbool.h>
#include <string.h>

#include "supervise/arch/x86_64/cpuid.h"

enum { EAX, EBX, ECX, EDX };

static bool has(enum cpuid_level level, uint32_t leaf, int reg, int bit)
{
	uint32_t out[4];
	cpuid_model_of(level, leaf, 0, out);
	return (out[reg] >> bit & 1) != 0;
}

static void what_cannot_be_trapped_is_hidden(void **state)
{
	(void)state;
	for (enum cpuid_level l = CPUID_V1; l <= CPUID_V3; l++) {
		assert_false(has(l, 1, ECX, 30)); /* RDRAND */
		assert_false(has(l, 7, EBX, 18)); /* RDSEED */
		assert_false(has(l, 7, EBX, 4));  /* HLE */
		assert_false(has(l, 7, EBX, 11)); /* RTM */
		assert_false(has(l, 7, ECX, 5));  /* WAITPKG */
		assert_false(has(l, 7, ECX, 22)); /* RDPID */
		assert_false(has(l, 1, ECX, 31)); /* a hypervisor, whose leaves would follow */
		assert_false(has(l, 7, EBX, 16)); /* AVX-512 */
		assert_true(has(l, 0x80000001, EDX, 27)); /* RDTSCP can be */
	}
}

static void levels_hold_what_the_psabi_says(void **state)
{
	(void)state;
	static const struct {
		enum cpuid_level from;
		uint32_t leaf;
		int reg, bit;
	} bits[] = {
		{CPUID_V1, 1, EDX, 26},
		{CPUID_V1, 1, EDX, 15},
		{CPUID_V1, 0x80000001, EDX, 29},
		{CPUID_V2, 1, ECX, 0},
		{CPUID_V2, 1, ECX, 9},
		{CPUID_V2, 1, ECX, 13},
		{CPUID_V2, 1, ECX, 19},
		{CPUID_V2, 1, ECX, 20},
		{CPUID_V2, 1, ECX, 23},
		{CPUID_V2, 0x80000001, ECX, 0},
		{CPUID_V3, 1, ECX, 12},
		{CPUID_V3, 1, ECX, 22},
		{CPUID_V3, 1, ECX, 27},
		{CPUID_V3, 1, ECX, 28},
		{CPUID_V3, 1, ECX, 29},
		{CPUID_V3, 7, EBX, 3},
		{CPUID_V3, 7, EBX, 5},
		{CPUID_V3, 7, EBX, 8},
		{CPUID_V3, 0x80000001, ECX, 5},
	};
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		for (enum cpuid_level l = CPUID_V1; l <= CPUID_V3; l++)
			assert_int_equal(
				has(l, bits[i].leaf, bits[i].reg, bits[i].bit), l >= bits[i].from);
}

static void host_has_all_that_its_level_shows(void **state)
{
	(void)state;
	enum cpuid_level level = cpuid_host_level();
	/* The compiler's own look at the host; both compilers know these names. */
	bool v2 = __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.2") &&
		  __builtin_cpu_supports("popcnt");
	bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
		  __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("aes") &&
		  __builtin_cpu_supports("pclmul");
	assert_int_equal(level >= CPUID_V2, v2);
	assert_int_equal(level >= CPUID_V3, v3);

	static const uint32_t leaves[] = {1, 7, 0x80000001};
	for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++) {
		uint32_t model[4], host[4];
		cpuid_model(leaves[i], 0, model);
		__cpuid_count(leaves[i], 0, host[EAX], host[EBX], host[ECX], host[EDX]);
		assert_int_equal(model[ECX] & ~host[ECX], 0);
		if (leaves[i] == 7)
			assert_int_equal(model[EBX] & ~host[EBX], 0);
	}
}

static void topology_is_one_thread_of_one_core(void **state)
{
	(void)state;
	uint32_t out[4];
	cpuid_model(1, 0, out);
	assert_int_equal(out[EBX] >> 16 & 0xff, 1);
	assert_int_equal(out[EBX] >> 24, 0);
	assert_false(out[EDX] >> 28 & 1); /* HTT */
	for (uint32_t sub = 0; sub < 4; sub++) {
		cpuid_model(4, sub, out);
		assert_int_equal(out[EAX] >> 14, 0); /* shared by one, one core */
		assert_int_equal(out[EAX] & 0x1f, sub == 1 ? 2 : sub == 0 ? 1 : 3);
		cpuid_model(0xb, sub, out);
		assert_int_equal(out[EBX], sub < 2);
		assert_int_equal(out[ECX] & 0xff, sub);
		assert_int_equal(out[EDX], 0);
	}
	cpuid_model(4, 4, out);
	assert_int_equal(out[EAX], 0);
}

static void vendor_and_name_are_fixed(void **state)
{
	(void)state;
	uint32_t out[4];
	char vendor[13] = "", name[49] = "";
	cpuid_model(0, 0, out);
	memcpy(vendor, &out[EBX], 4);
	memcpy(vendor + 4, &out[EDX], 4);
	memcpy(vendor + 8, &out[ECX], 4);
	assert_string_equal(vendor, "GenuineIntel");
	for (uint32_t i = 0; i < 3; i++) {
		cpuid_model(0x80000002 + i, 0, out);
		memcpy(name + 16 * i, out, 16);
	}
	assert_string_equal(name, "Sandglass virtual CPU @ 1.00GHz");
}

static void unknown_leaves_are_zeros(void **state)
{
	(void)state;
	static const uint32_t unknown[] = {3, 5, 6, 8, 9, 0xa, 0xc, 0xe, 0x14, 0x17, 0x1f, 0x24,
		0x40000000, 0x40000001, 0x80000005, 0x80000009, 0x8000001d, 0xc0000000, UINT32_MAX};
	static const uint32_t zeros[4];
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		for (uint32_t sub = 0; sub < 3; sub++) {
			uint32_t out[4] = {1, 1, 1, 1};
			cpuid_model(unknown[i], sub, out);
			assert_memory_equal(out, zeros, sizeof(zeros));
		}
	uint32_t out[4] = {1, 1, 1, 1};
	cpuid_model(7, 1, out);
	assert_memory_equal(out, zeros, sizeof(zeros));
}

static void state_sizes_are_the_hosts(void **state)
{
	(void)state;
	static const uint32_t zeros[4];
	for (uint32_t sub = 0; sub < 3; sub++) {
		uint32_t model[4], host[4];
		__cpuid_count(0xd, sub, host[EAX], host[EBX], host[ECX], host[EDX]);
		cpuid_model_of(CPUID_V3, 0xd, sub, model);
		assert_memory_equal(model, host, sizeof(host));
		cpuid_model_of(CPUID_V2, 0xd, sub, model); /* has no XSAVE */
		assert_memory_equal(model, zeros, sizeof(zeros));
	}
}

static void counter_runs_at_one_gigahertz(void **state)
{
	(void)state;
	uint32_t out[4];
	cpuid_model(0x15, 0, out);
	assert_int_equal((uint64_t)out[ECX] * out[EBX] / out[EAX], 1000000000);
	cpuid_model(0, 0, out);
	assert_true(out[EAX] >= 0x16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_trapped_is_hidden),
		cmocka_unit_test(levels_hold_what_the_psabi_says),
		cmocka_unit_test(host_has_all_that_its_level_shows),
		cmocka_unit_test(topology_is_one_thread_of_one_core),
		cmocka_unit_test(vendor_and_name_are_fixed),
		cmocka_unit_test(unknown_leaves_are_zeros),
		cmocka_unit_test(state_sizes_are_the_hosts),
		cmocka_unit_test(counter_runs_at_one_gigahertz),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
