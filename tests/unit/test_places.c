/* SPDX-License-Identifier: Apache-2.0 */
/* rdtsc and cpuid in place: which instructions a jump may cover, and that the stubs do what they
 * stand for and change nothing else. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <cpuid.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "supervise/arch.h"

#define JUDGE(...) \
	judge((const unsigned char[]){__VA_ARGS__}, sizeof((unsigned char[]){__VA_ARGS__}))

static struct arch_places found;

static size_t judge(const unsigned char *code, size_t len)
{
	const struct arch_function f = {code, len, 0x1000};

	found.count = 0;
	arch_places_judge(&f, &found);
	return found.count;
}

static void shift_after_the_counter_is_covered(void **state)
{
	(void)state;
	assert_int_equal(JUDGE(0x90, 0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0xc3), 1);
	assert_int_equal(found.at[0].address, 0x1001);
	assert_int_equal(found.at[0].len, 6);
	assert_true(found.at[0].is_counter);
}

static void nothing_is_put_over_a_target(void **state)
{
	(void)state;
	/* jmp to the shift, short and long; to the counter itself; past it */
	assert_int_equal(JUDGE(0xeb, 0x02, 0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0xc3), 0);
	assert_int_equal(JUDGE(0xe9, 2, 0, 0, 0, 0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0xc3), 0);
	assert_int_equal(
		JUDGE(0x0f, 0x84, 2, 0, 0, 0, 0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0xc3), 0);
	assert_int_equal(JUDGE(0x74, 0x00, 0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0xc3), 1);
	assert_int_equal(JUDGE(0x74, 0x06, 0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0xc3), 1);
	/* and from behind: jg back to what follows cpuid */
	assert_int_equal(JUDGE(0x0f, 0xa2, 0x81, 0xee, 1, 0, 0, 0, 0x7f, 0xf8, 0xc3), 0);
}

static void what_comes_before_is_covered_else(void **state)
{
	(void)state;
	/* mov $7,%eax; xor %ecx,%ecx; cpuid; je past; ret; the branch cannot move */
	assert_int_equal(
		JUDGE(0xb8, 7, 0, 0, 0, 0x31, 0xc9, 0x0f, 0xa2, 0x74, 0x01, 0x90, 0xc3), 1);
	assert_int_equal(found.at[0].address, 0x1000);
	assert_int_equal(found.at[0].before, 7);
	assert_int_equal(found.at[0].len, 9);
	/* what the one before has taken stays its own */
	assert_int_equal(JUDGE(0x0f, 0x31, 0xb8, 7, 0, 0, 0, 0x0f, 0xa2, 0x74, 0x00, 0xc3), 1);
	assert_int_equal(found.at[0].address, 0x1000);
	/* nor where something goes to the instruction itself */
	assert_int_equal(JUDGE(0xeb, 0x05, 0xb8, 7, 0, 0, 0, 0x0f, 0xa2, 0x74, 0x00, 0xc3), 0);
}

static void what_cannot_move_stays(void **state)
{
	(void)state;
	assert_int_equal(JUDGE(0x0f, 0xa2, 0x85, 0xdb, 0x74, 0x01, 0x90, 0xc3), 0); /* a branch */
	assert_int_equal(JUDGE(0x0f, 0x31, 0xc3), 0);				    /* the end */
	assert_int_equal(JUDGE(0x0f, 0x31, 0xe8, 0, 0, 0, 0, 0xc3), 0);		    /* a call */
	assert_int_equal(JUDGE(0x0f, 0x31, 0x0f, 0x31, 0x48, 0x89, 0xc1, 0xc3), 1); /* the second */
	assert_int_equal(found.at[0].address, 0x1002);
	/* a function with bytes that are no instruction */
	assert_int_equal(JUDGE(0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0x06), 0);
}

static void tables_and_branches_are_known(void **state)
{
	/* lea 4(%rip),%rax; jmp *%rax */
	(void)state;
	JUDGE(0x48, 0x8d, 0x05, 4, 0, 0, 0, 0xff, 0xe0);
	assert_true(found.jumps_by_table);
	assert_int_equal(found.table_count, 1);
	assert_int_equal(found.table[0], 0x100b);
	const unsigned char code[] = {0xe8, 0, 0, 0, 0, 0x0f, 0x85, 0, 0, 0, 0, 0x48, 0x8d, 0x0d, 0,
		0, 0, 0, 0x48, 0x8b, 0x0d, 0, 0, 0, 0};

	assert_true(arch_places_leads(code, 1));
	assert_true(arch_places_leads(code, 7));
	assert_true(arch_places_leads(code, 14));
	assert_false(arch_places_leads(code, 21)); /* a load */
}

/* ---- stubs that run ---- */

enum { ROOM = 8192, STUB = 2048, COUNTER = 4000, CPUID = 4096 };

/* Of a piece of code: what it was called with, and what it left. */
struct state {
	uint64_t rax, rbx, rcx, rdx, flags, zone;
};

static unsigned char *memory(void)
{
	unsigned char *at = mmap(
		NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	return at;
}

/* Calls code that ends in ret, with a word in the red zone below its stack that must stay. */
static void run(const unsigned char *code, struct state *s)
{
	__asm__ volatile("mov %[s], %%r12\n\t"
			 "sub $4096, %%rsp\n\t"
			 "lea 1f(%%rip), %%r13\n\t"
			 "push %%r13\n\t"
			 "movq $0x5a5a, -16(%%rsp)\n\t"
			 "push 32(%%r12)\n\t"
			 "popfq\n\t"
			 "movq $0x5a5a, -8(%%rsp)\n\t"
			 "mov (%%r12), %%rax\n\t"
			 "mov 8(%%r12), %%rbx\n\t"
			 "mov 16(%%r12), %%rcx\n\t"
			 "mov 24(%%r12), %%rdx\n\t"
			 "jmp *%[code]\n"
			 "1:\n\t"
			 "mov -24(%%rsp), %%r13\n\t"
			 "mov %%r13, 40(%%r12)\n\t"
			 "pushfq\n\t"
			 "pop 32(%%r12)\n\t"
			 "lea 4096(%%rsp), %%rsp\n\t"
			 "mov %%rax, (%%r12)\n\t"
			 "mov %%rbx, 8(%%r12)\n\t"
			 "mov %%rcx, 16(%%r12)\n\t"
			 "mov %%rdx, 24(%%r12)\n\t"
			 :
			 : [s] "r"(s), [code] "r"(code)
			 : "rax", "rbx", "rcx", "rdx", "r12", "r13", "cc", "memory");
}

/* Lays the code at `at` with its first place done by a stub. */
static void put_in_place(unsigned char *at, const unsigned char *code, size_t len)
{
	const struct arch_function f = {code, len, (uint64_t)(uintptr_t)at};
	struct arch_stub_at where = {.stub = f.address + STUB,
		.counter = f.address + COUNTER,
		.cpuid = f.address + CPUID};

	found.count = 0;
	arch_places_judge(&f, &found);
	assert_int_equal(found.count, 1);
	where.place = found.at[0].address;
	memcpy(at, code, len);
	assert_int_not_equal(arch_place_stub(&found.at[0], &where, at + STUB), 0);
	assert_true(arch_place_jump(&found.at[0], &where, at + (where.place - f.address)));
}

static const uint64_t flag_sets[] = {0x202, 0x8d7 | 0x200, 0x246, 0x283, 0xa06};

static void counter_is_read_whole_and_flags_stay(void **state)
{
	/* rdtsc; mov %rax,%rcx; lea 0(%rip),%rbx (of the address here); ret */
	static const unsigned char code[] = {
		0x0f, 0x31, 0x48, 0x89, 0xc1, 0x48, 0x8d, 0x1d, 0, 0, 0, 0, 0xc3};
	const uint64_t counter = 0x0123456789abcdef;
	unsigned char *at = memory();

	(void)state;
	put_in_place(at, code, sizeof(code));
	memcpy(at + COUNTER, &counter, sizeof(counter));
	for (size_t i = 0; i < sizeof(flag_sets) / sizeof(flag_sets[0]); i++) {
		struct state s = {.rax = UINT64_MAX, .rdx = UINT64_MAX, .flags = flag_sets[i]};

		run(at, &s);
		assert_int_equal(s.rax, 0x89abcdef);
		assert_int_equal(s.rdx, 0x01234567);
		assert_int_equal(s.rcx, 0x89abcdef);
		assert_int_equal(s.rbx, (uint64_t)(uintptr_t)at + 12);
		assert_int_equal(s.flags & 0x8d5, flag_sets[i] & 0x8d5);
		assert_int_equal(s.zone, 0x5a5a);
	}
	munmap(at, ROOM);
}

static void moved_addresses_are_mended(void **state)
{
	/* rdtsc; lea 100(%rip),%rbx; ret */
	static const unsigned char code[] = {0x0f, 0x31, 0x48, 0x8d, 0x1d, 100, 0, 0, 0, 0xc3};
	unsigned char *at = memory();
	struct state s = {.flags = 0x202};

	(void)state;
	put_in_place(at, code, sizeof(code));
	run(at, &s);
	assert_int_equal(s.rbx, (uint64_t)(uintptr_t)at + 9 + 100);
	munmap(at, ROOM);
}

static void cpuid_says_what_the_instruction_says(void **state)
{
	/* cpuid; mov %r8,%r8; ret */
	static const unsigned char code[] = {0x0f, 0xa2, 0x4d, 0x89, 0xc0, 0xc3};
	/* known ones, with something in the register that they do not look at, and unknown ones */
	static const uint32_t asked[][2] = {{0, 7}, {1, 99}, {4, 0}, {4, 3}, {7, 0}, {7, 1},
		{0xd, 0}, {0xd, 1}, {0xd, 2}, {0x80000000, 5}, {0x80000001, 0}, {0x80000008, 3},
		{0x8000001d, 2}, {0x80000002, 0}, {0x80000002, 0xffffffff}, {4, 0xffffffff},
		{0x16, 0}};
	unsigned char *at = memory();

	(void)state;
	put_in_place(at, code, sizeof(code));
	assert_int_not_equal(arch_places_cpuid(at + CPUID, ROOM - CPUID), 0);
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		uint64_t flags = flag_sets[i % (sizeof(flag_sets) / sizeof(flag_sets[0]))];
		struct state s = {.rax = asked[i][0] | 0xffull << 40,
			.rbx = UINT64_MAX,
			.rcx = asked[i][1] | 0xffull << 40,
			.rdx = UINT64_MAX,
			.flags = flags};
		uint32_t out[4];

		__cpuid_count(asked[i][0], asked[i][1], out[0], out[1], out[2], out[3]);
		run(at, &s);
		/* which CPU this runs on may have changed in between */
		if (asked[i][0] == 1) {
			out[1] &= 0xffffff;
			s.rbx &= 0xffffff;
		}
		assert_int_equal(s.rax, out[0]);
		assert_int_equal(s.rbx, out[1]);
		assert_int_equal(s.rcx, out[2]);
		assert_int_equal(s.rdx, out[3]);
		assert_int_equal(s.flags & 0x8d5, flags & 0x8d5);
		assert_int_equal(s.zone, 0x5a5a);
	}
	munmap(at, ROOM);
}

static void what_comes_before_is_done_before(void **state)
{
	/* mov $1,%eax; mov $0,%ecx; cpuid; jmp to the ret */
	static const unsigned char code[] = {
		0xb8, 1, 0, 0, 0, 0xb9, 0, 0, 0, 0, 0x0f, 0xa2, 0xeb, 0, 0xc3};
	unsigned char *at = memory();
	struct state s = {.flags = 0x246};
	uint32_t out[4];

	(void)state;
	put_in_place(at, code, sizeof(code));
	assert_int_not_equal(arch_places_cpuid(at + CPUID, ROOM - CPUID), 0);
	__cpuid_count(1, 0, out[0], out[1], out[2], out[3]);
	run(at, &s);
	assert_int_equal(s.rax, out[0]);
	assert_int_equal(s.rcx, out[2]);
	assert_int_equal(s.rdx, out[3]);
	munmap(at, ROOM);
}

static void no_room_is_said(void **state)
{
	unsigned char out[64];

	(void)state;
	assert_int_equal(arch_places_cpuid(out, sizeof(out)), 0);
}

static void out_of_reach_is_said(void **state)
{
	const struct arch_stub_at where = {0x1000, 0x7f0000000000, 0x7f0000001000, 0};
	unsigned char out[ARCH_STUB_MAX];

	(void)state;
	assert_int_equal(JUDGE(0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0xc3), 1);
	assert_int_equal(arch_place_stub(&found.at[0], &where, out), 0);
	assert_false(arch_place_jump(&found.at[0], &where, out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shift_after_the_counter_is_covered),
		cmocka_unit_test(nothing_is_put_over_a_target),
		cmocka_unit_test(what_comes_before_is_covered_else),
		cmocka_unit_test(what_cannot_move_stays),
		cmocka_unit_test(tables_and_branches_are_known),
		cmocka_unit_test(counter_is_read_whole_and_flags_stay),
		cmocka_unit_test(moved_addresses_are_mended),
		cmocka_unit_test(cpuid_says_what_the_instruction_says),
		cmocka_unit_test(what_comes_before_is_done_before),
		cmocka_unit_test(no_room_is_said),
		cmocka_unit_test(out_of_reach_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
