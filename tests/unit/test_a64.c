/* SPDX-License-Identifier: Apache-2.0 */
/* What the decoder of aarch64 says of words that an assembler made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/attr.h"
#include "supervise/arch/aarch64/decode.h"

#define X1 0x100000ull
#define SP 0x800000ull
#define PC 0x400000ull

static const struct row {
	const char *text;
	uint32_t word;
	int count;
	struct arch_access accesses[2];
} rows[] = {
	/* x2 is -3. */
	{"ldr w0, [x1]", 0xb9400020, 1, {{X1, 4, false}}},
	{"ldr x0, [x1, #16]", 0xf9400820, 1, {{X1 + 16, 8, false}}},
	{"ldrb w0, [x1, #3]", 0x39400c20, 1, {{X1 + 3, 1, false}}},
	{"ldrsh x0, [x1, #4]", 0x79800820, 1, {{X1 + 4, 2, false}}},
	{"ldr x0, [x1], #8", 0xf8408420, 1, {{X1, 8, false}}},
	{"ldr x0, [x1, #-8]!", 0xf85f8c20, 1, {{X1 - 8, 8, false}}},
	{"ldur w0, [x1, #-4]", 0xb85fc020, 1, {{X1 - 4, 4, false}}},
	{"ldr x0, [x1, x2, lsl #3]", 0xf8627820, 1, {{X1 - 24, 8, false}}},
	{"ldr w0, [x1, w2, sxtw #2]", 0xb862d820, 1, {{X1 - 12, 4, false}}},
	{"ldrb w0, [x1, w2, uxtw]", 0x38624820, 1, {{X1 + 0xfffffffd, 1, false}}},
	{"str x0, [sp, #8]", 0xf90007e0, 1, {{SP + 8, 8, true}}},
	{"str w0, [x1]", 0xb9000020, 1, {{X1, 4, true}}},
	{"strh wzr, [x1, #2]", 0x7900043f, 1, {{X1 + 2, 2, true}}},
	{"stur x0, [x1, #-16]", 0xf81f0020, 1, {{X1 - 16, 8, true}}},
	{"str q0, [x1, #32]", 0x3d800820, 1, {{X1 + 32, 16, true}}},
	{"ldr d0, [x1, #8]", 0xfd400420, 1, {{X1 + 8, 8, false}}},
	{"ldp x0, x2, [x1, #16]", 0xa9410820, 1, {{X1 + 16, 16, false}}},
	{"ldp x29, x30, [sp], #32", 0xa8c27bfd, 1, {{SP, 16, false}}},
	{"stp x29, x30, [sp, #-32]!", 0xa9be7bfd, 1, {{SP - 32, 16, true}}},
	{"stp w0, w2, [x1, #8]", 0x29010820, 1, {{X1 + 8, 8, true}}},
	{"ldpsw x0, x2, [x1]", 0x69400820, 1, {{X1, 8, false}}},
	{"stp q0, q1, [x1, #32]", 0xad010420, 1, {{X1 + 32, 32, true}}},
	{"ldar w0, [x1]", 0x88dffc20, 1, {{X1, 4, false}}},
	{"ldarb w0, [x1]", 0x08dffc20, 1, {{X1, 1, false}}},
	{"stlr x0, [x1]", 0xc89ffc20, 1, {{X1, 8, true}}},
	{"ldapr w0, [x1]", 0xb8bfc020, 1, {{X1, 4, false}}},
	{"ldaddal w0, w2, [x1]", 0xb8e00022, 2, {{X1, 4, false}, {X1, 4, true}}},
	{"swpa w0, w2, [x1]", 0xb8a08022, 2, {{X1, 4, false}, {X1, 4, true}}},
	{"stadd x0, [x1]", 0xf820003f, 2, {{X1, 8, false}, {X1, 8, true}}},
	{"casal x0, x2, [x1]", 0xc8e0fc22, 2, {{X1, 8, false}, {X1, 8, true}}},
	{"ldr x0, .+64", 0x58000200, 1, {{PC + 64, 8, false}}},
	{"prfm pldl1keep, [x1]", 0xf9800020, 0, {{0}}},
	{"ldxr w0, [x1]", 0x885f7c20, 1, {{X1, 4, false}}},
	{"ldaxrb w0, [x1]", 0x085ffc20, 1, {{X1, 1, false}}},
	{"ldaxp w0, w2, [x1]", 0x887f8820, 1, {{X1, 8, false}}},
	{"ldxp x0, x2, [x1]", 0xc87f0820, 1, {{X1, 16, false}}},
	{"stlxp w3, x0, x2, [x1]", 0xc8238820, -1, {{0}}},
	{"caspal x0, x1, x2, x3, [x1]", 0x4860fc22, -1, {{0}}},
	{"stxr w3, w0, [x1]", 0x88037c20, -1, {{0}}},
	{"ldaxr x0, [x1]", 0xc85ffc20, 1, {{X1, 8, false}}},
	{"cmp w0, #5", 0x7100141f, 0, {{0}}},
	{"add x0, x1, x2", 0x8b020020, 0, {{0}}},
	{"mov x0, #5", 0xd28000a0, 0, {{0}}},
	{"adrp x0, .", 0x90000000, 0, {{0}}},
	{"cbz w0, .", 0x34000000, 0, {{0}}},
	{"tbnz x0, #3, .", 0x37180000, 0, {{0}}},
	{"b.ne .", 0x54000001, 0, {{0}}},
	{"b .", 0x14000000, 0, {{0}}},
	{"bl .", 0x94000000, 0, {{0}}},
	{"ret", 0xd65f03c0, 0, {{0}}},
	{"blr x1", 0xd63f0020, 0, {{0}}},
	{"nop", 0xd503201f, 0, {{0}}},
	{"yield", 0xd503203f, 0, {{0}}},
	{"wfe", 0xd503205f, 0, {{0}}},
	{"isb", 0xd5033fdf, 0, {{0}}},
	{"dmb ish", 0xd5033bbf, 0, {{0}}},
	{"dsb sy", 0xd5033f9f, 0, {{0}}},
	{"mrs x0, tpidr_el0", 0xd53bd040, 0, {{0}}},
	{"mrs x0, cntvct_el0", 0xd53be040, -1, {{0}}},
	{"svc #0", 0xd4000001, -1, {{0}}},
	{"brk #1", 0xd4200020, -1, {{0}}},
	{"fadd d0, d1, d2", 0x1e622820, 0, {{0}}},
	{"madd x0, x1, x2, x3", 0x9b020c20, 0, {{0}}},
	{"ld1 {v0.4s}, [x1]", 0x4c407820, -1, {{0}}},
	{"casp x0, x1, x2, x3, [x5]", 0x48207ca2, -1, {{0}}},
};

static void its_accesses_are_those_of_the_manual(void **state)
{
	struct a64_regs regs = {.sp = SP, .pc = PC};

	(void)state;
	regs.x[1] = X1;
	regs.x[2] = (uint64_t)-3;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *row = &rows[i];
		struct arch_access ret[ARCH_ACCESSES] = {{0}};
		int count = a64_accesses(row->word, &regs, ret);

		if (count != row->count)
			fail_msg("%s: %d accesses, not %d", row->text, count, row->count);
		for (int n = 0; n < count; n++)
			if (ret[n].addr != row->accesses[n].addr ||
				ret[n].len != row->accesses[n].len ||
				ret[n].store != row->accesses[n].store)
				fail_msg("%s: access %d is of %u bytes at %#llx", row->text, n,
					ret[n].len, (unsigned long long)ret[n].addr);
	}
}

/* What is not an instruction, or one of an extension that came later, may do anything. */
static void what_it_does_not_know_may_write_anything(void **state)
{
	static const uint32_t unknown[] = {
		0x00000000, /* udf */
		0x04a00000, /* sve: add z0.s, z0.s, z0.s */
		0xa400a000, /* sve: ld1b */
		0xd9200800, /* stg x0, [x0] */
		0x19010440, /* cpyfp [x0]!, [x1]!, x2! */
		0xf8200400, /* ldraa x0, [x0] */
		0x0c407820, /* ld1 {v0.2s}, [x1] */
		0xd51be040, /* msr to the counter */
	};
	const struct a64_regs regs = {.sp = SP};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(unknown); i++) {
		struct arch_access ret[ARCH_ACCESSES];

		if (a64_accesses(unknown[i], &regs, ret) != -1)
			fail_msg("%#x is taken for a known one", unknown[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_accesses_are_those_of_the_manual),
		cmocka_unit_test(what_it_does_not_know_may_write_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
