/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fixed CPU model of guests.
 *
 * It is used where the CPU and the hypervisor can make cpuid fault (cpuid_fault in /proc/cpuinfo);
 * elsewhere the guest sees the host's CPU and the run says so (reason cpuid_unmasked). Machines
 * without faulting exercise this file by its unit test alone.
 *
 * A guest that asks cpuid finds no random number instruction (RDRAND, RDSEED), no transactions
 * (RTM, HLE: their aborts come from interrupts), no RDPID and no WAITPKG, whatever the host has:
 * none of those can be trapped. Leaf 0xD is the host's: the size of the state that XSAVE stores,
 * and that the kernel puts into signal frames, follows XCR0, and XGETBV cannot be trapped either.
 * For the family, glibc and the JVM take their well-trodden path: an Intel Haswell, the first CPU
 * of level 3.
 */
#include "supervise/arch/x86_64/cpuid.h"

#include <cpuid.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/attr.h"

enum { EAX, EBX, ECX, EDX };

#define BIT(n) (1u << (n))

/* Features of one level, in addition to those below it. */
enum {
	V2_1_ECX = BIT(0) /* SSE3 */ | BIT(9) /* SSSE3 */ | BIT(13) /* CMPXCHG16B */ |
		   BIT(19) /* SSE4.1 */ | BIT(20) /* SSE4.2 */ | BIT(23) /* POPCNT */,
	V3_1_ECX = BIT(1) /* PCLMULQDQ */ | BIT(12) /* FMA */ | BIT(22) /* MOVBE */ |
		   BIT(25) /* AES */ | BIT(26) /* XSAVE */ | BIT(27) /* OSXSAVE */ |
		   BIT(28) /* AVX */ | BIT(29) /* F16C */,
	V3_7_EBX = BIT(3) /* BMI1 */ | BIT(5) /* AVX2 */ | BIT(8) /* BMI2 */,
	V2_EXT_ECX = BIT(0) /* LAHF, SAHF */,
	V3_EXT_ECX = BIT(5) /* LZCNT */,
	/* FPU VME DE PSE TSC MSR PAE MCE CX8 APIC, SEP MTRR PGE MCA CMOV PAT PSE36, CLFLUSH, MMX
	 * FXSR SSE SSE2: all of them are in every x86-64 CPU. */
	V1_1_EDX = 0x078bfbff,
	V1_EXT_EDX = BIT(11) /* SYSCALL */ | BIT(20) /* NX */ | BIT(27) /* RDTSCP */ |
		     BIT(29) /* long mode */,
	XCR0_SSE_AVX = BIT(1) | BIT(2),
};

static const struct features {
	uint32_t leaf1_ecx, leaf7_ebx, ext_ecx;
} by_level[] = {
	[CPUID_V1] = {0, 0, 0},
	[CPUID_V2] = {V2_1_ECX, 0, V2_EXT_ECX},
	[CPUID_V3] = {V2_1_ECX | V3_1_ECX, V3_7_EBX, V2_EXT_ECX | V3_EXT_ECX},
};

enum {
	LEAF_MAX = 0x16,
	LEAF_STATE = 0xd,
	SUB_ANY = -1,
};

/* All leaves that are not zeros and do not depend on the level; features come on top. */
static const struct row {
	uint32_t leaf;
	int subleaf;
	uint32_t out[4];
} rows[] = {
	/* "GenuineIntel" in ebx, edx, ecx. */
	{0x0, SUB_ANY, {LEAF_MAX, 0x756e6547, 0x6c65746e, 0x49656e69}},
	/* Family 6, model 0x3c, stepping 3; 64-byte cache lines, one logical CPU, APIC 0. */
	{0x1, SUB_ANY, {0x000306c3, 0x00010800, 0, V1_1_EDX}},
	/* One descriptor: see leaf 4. */
	{0x2, SUB_ANY, {0x00000001, 0x000000ff, 0, 0}},
	/* Caches, each of one CPU: 32 KiB data, 32 KiB code, 256 KiB, 8 MiB. */
	{0x4, 0, {0x121, 0x01c0003f, 63, 0}},
	{0x4, 1, {0x122, 0x01c0003f, 63, 0}},
	{0x4, 2, {0x143, 0x01c0003f, 511, 0}},
	{0x4, 3, {0x163, 0x03c0003f, 8191, 0x2}},
	/* Topology: one thread in one core; levels 1 (thread) and 2 (core), then none. */
	{0xb, 0, {0, 1, 0x100, 0}},
	{0xb, 1, {0, 1, 0x201, 0}},
	/* The time stamp counter makes 1 tick of a 1 GHz crystal, as PR_SET_TSC's emulation does.
	 */
	{0x15, SUB_ANY, {1, 1, 1000000000, 0}},
	{0x16, SUB_ANY, {1000, 1000, 100, 0}},
	{0x80000000, SUB_ANY, {0x80000008, 0, 0, 0}},
	{0x80000001, SUB_ANY, {0, 0, 0, V1_EXT_EDX}},
	/* "Sandglass virtual CPU @ 1.00GHz", padded with zeros. */
	{0x80000002, SUB_ANY, {0x646e6153, 0x73616c67, 0x69762073, 0x61757472}},
	{0x80000003, SUB_ANY, {0x5043206c, 0x20402055, 0x30302e31, 0x007a4847}},
	/* 256 KiB of second level cache, 8 ways, 64-byte lines. */
	{0x80000006, SUB_ANY, {0, 0, 0x01006040, 0}},
	/* The counter is invariant. */
	{0x80000007, SUB_ANY, {0, 0, 0, BIT(8)}},
	/* Physical and virtual address bits. */
	{0x80000008, SUB_ANY, {0x3027, 0, 0, 0}},
};

/* ARCH_SET_CPUID(1), which changes nothing, is refused where the CPU or the hypervisor cannot
 * fault. */
bool cpuid_can_fault(void)
{
	static int answer = -1;

	if (answer < 0)
		answer = syscall(SYS_arch_prctl, CPUID_SET, 1) == 0;
	return answer;
}

static void host_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t ret_out[4])
{
	__cpuid_count(leaf, subleaf, ret_out[EAX], ret_out[EBX], ret_out[ECX], ret_out[EDX]);
}

/* Whether the kernel keeps the AVX registers: XCR0. */
static bool host_saves_avx(void)
{
	uint32_t low, high;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (low & XCR0_SSE_AVX) == XCR0_SSE_AVX;
}

static bool has_all(uint32_t have, uint32_t want)
{
	return (have & want) == want;
}

enum cpuid_level cpuid_host_level(void)
{
	uint32_t basic[4], seven[4] = {0}, max[4], ext[4];
	host_cpuid(0, 0, max);
	host_cpuid(1, 0, basic);
	if (max[EAX] >= 7)
		host_cpuid(7, 0, seven);
	host_cpuid(0x80000001, 0, ext);

	enum cpuid_level level = CPUID_V1;
	for (enum cpuid_level l = CPUID_V2; l <= CPUID_V3; l++) {
		const struct features *f = &by_level[l];
		if (!has_all(basic[ECX], f->leaf1_ecx) || !has_all(seven[EBX], f->leaf7_ebx) ||
			!has_all(ext[ECX], f->ext_ecx))
			break;
		if (l == CPUID_V3 && !host_saves_avx())
			break;
		level = l;
	}
	return level;
}

void cpuid_model_of(enum cpuid_level level, uint32_t leaf, uint32_t subleaf, uint32_t ret_out[4])
{
	const struct features *f = &by_level[level];
	memset(ret_out, 0, 4 * sizeof(ret_out[0]));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *row = &rows[i];
		if (row->leaf == leaf && (row->subleaf == SUB_ANY || row->subleaf == (int)subleaf))
			memcpy(ret_out, row->out, sizeof(row->out));
	}
	if (leaf == 0x1)
		ret_out[ECX] |= f->leaf1_ecx;
	else if (leaf == 0x7 && subleaf == 0)
		ret_out[EBX] |= f->leaf7_ebx;
	else if (leaf == 0x80000001)
		ret_out[ECX] |= f->ext_ecx;
	else if (leaf == 0xb && subleaf > 1)
		ret_out[ECX] = subleaf & 0xff;
	else if (leaf == LEAF_STATE && level >= CPUID_V3)
		host_cpuid(leaf, subleaf, ret_out);
}

void cpuid_model(uint32_t leaf, uint32_t subleaf, uint32_t ret_out[4])
{
	static int level = -1; /* the host's CPU does not change */
	if (level < 0)
		level = (int)cpuid_host_level();
	cpuid_model_of((enum cpuid_level)level, leaf, subleaf, ret_out);
}
