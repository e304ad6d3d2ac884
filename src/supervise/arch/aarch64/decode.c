/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machine code of aarch64: see decode.h. Names are those of the Arm Architecture Reference Manual,
 * C4.1 (encoding index); bits are numbered as there.
 */
#include "supervise/arch/aarch64/decode.h"

#include "base/attr.h"

enum { SP_OR_ZERO = 31, NOT_KNOWN = -1 };

static uint32_t bits(uint32_t word, int high, int low)
{
	return word >> low & ((1u << (high - low + 1)) - 1);
}

static int64_t signed_bits(uint32_t word, int high, int low)
{
	uint32_t top = 1u << (high - low);

	return (int64_t)(bits(word, high, low) ^ top) - top;
}

/* Rn of a load or store: its address. */
static uint64_t base(uint32_t word, const struct a64_regs *r)
{
	uint32_t n = bits(word, 9, 5);

	return n == SP_OR_ZERO ? r->sp : r->x[n];
}

static int one(struct arch_access ret[ARCH_ACCESSES], uint64_t addr, uint32_t len, bool store)
{
	ret[0] = (struct arch_access){.addr = addr, .len = len, .store = store};
	return 1;
}

/* Read, and written in the same step. */
static int both(struct arch_access ret[ARCH_ACCESSES], uint64_t addr, uint32_t len)
{
	(void)one(ret, addr, len, false);
	ret[1] = (struct arch_access){.addr = addr, .len = len, .store = true};
	return 2;
}

static int system_register(uint32_t word)
{
	static const uint32_t without_effect[] = {
		0xd53bd040, /* mrs tpidr_el0 */
		0xd53bd060, /* mrs tpidrro_el0 */
		0xd53b4200, /* mrs nzcv */
		0xd53b4400, /* mrs fpcr */
		0xd53b4420, /* mrs fpsr */
		0xd51b4200, /* msr nzcv */
	};

	for (unsigned i = 0; i < ARRAY_LEN(without_effect); i++)
		if ((word & 0xffffffe0) == without_effect[i])
			return 0;
	return NOT_KNOWN; /* the counter among them */
}

static int branch_or_system(uint32_t word)
{
	if (bits(word, 30, 26) == 5 ||	      /* b, bl */
		bits(word, 30, 25) == 0x1a || /* cbz, cbnz */
		bits(word, 30, 25) == 0x1b || /* tbz, tbnz */
		bits(word, 31, 24) == 0x54)   /* b.cond */
		return 0;
	if ((word & 0xff9ffc1f) == 0xd61f0000 || (word & 0xfffffbff) == 0xd65f0bff)
		return 0; /* br, blr, ret, retaa, retab */
	if ((word & 0xfffff01f) == 0xd503201f || (word & 0xfffff01f) == 0xd503301f)
		return 0; /* hints: nop, yield, wfe...; barriers: dsb, dmb, isb... */
	return bits(word, 31, 22) == 0x354 ? system_register(word) : NOT_KNOWN;
}

/* Bits 29 to 24 are 001000. */
static int ordered(uint32_t word, const struct a64_regs *r, struct arch_access ret[ARCH_ACCESSES])
{
	uint32_t len = 1u << bits(word, 31, 30);
	bool o2 = bits(word, 23, 23), load = bits(word, 22, 22), o1 = bits(word, 21, 21);

	if (!o2) /* exclusive: ldxr, ldaxr; of pairs, ldxp, ldaxp; casp and the stores are not known
		  */
		return load && (!o1 || len >= 4) ? one(ret, base(word, r), len << o1, false)
						 : NOT_KNOWN;
	if (o1)
		return bits(word, 14, 10) == SP_OR_ZERO ? both(ret, base(word, r), len)
							: NOT_KNOWN; /* cas */
	return one(ret, base(word, r), len, !load);		     /* ldar, ldlar, stlr, stllr */
}

/* Bits 29 to 27 are 011, 25 and 24 are 0: from an address near pc. */
static int literal(uint32_t word, const struct a64_regs *r, struct arch_access ret[ARCH_ACCESSES])
{
	uint64_t addr = r->pc + (uint64_t)signed_bits(word, 23, 5) * 4;
	uint32_t opc = bits(word, 31, 30);

	if (bits(word, 26, 26))
		return opc == 3 ? NOT_KNOWN : one(ret, addr, 4u << opc, false);
	if (opc == 3)
		return 0; /* prfm */
	return one(ret, addr, opc == 1 ? 8 : 4, false);
}

/* Bits 29 to 27 are 101. */
static int pair(uint32_t word, const struct a64_regs *r, struct arch_access ret[ARCH_ACCESSES])
{
	uint32_t opc = bits(word, 31, 30), mode = bits(word, 24, 23);
	bool vector = bits(word, 26, 26), load = bits(word, 22, 22);
	uint32_t scale = vector ? 2 + opc : 2 + (opc >> 1);
	uint64_t addr = base(word, r);

	if (opc == 3 || (!vector && opc == 1 && (!load || mode == 0)))
		return NOT_KNOWN; /* stgp is among them */
	if (mode != 1)		  /* that changes the base afterwards */
		addr += (uint64_t)(signed_bits(word, 21, 15) * (1 << scale));
	return one(ret, addr, 2u << scale, !load);
}

/* Bits 29 to 27 are 111: one register. */
static int sized(uint32_t word, uint64_t addr, struct arch_access ret[ARCH_ACCESSES])
{
	uint32_t size = bits(word, 31, 30), opc = bits(word, 23, 22);

	if (bits(word, 26, 26)) {
		if (opc < 2)
			return one(ret, addr, 1u << size, opc == 0);
		return size == 0 ? one(ret, addr, 16, opc == 2) : NOT_KNOWN;
	}
	if (size == 3 && opc == 2)
		return 0; /* prfm */
	if (opc == 3 && size > 1)
		return NOT_KNOWN;
	return one(ret, addr, 1u << size, opc == 0);
}

static uint32_t scale_of(uint32_t word)
{
	bool is_quad = bits(word, 26, 26) && bits(word, 23, 23);

	return is_quad ? 4 : bits(word, 31, 30);
}

static int by_register(
	uint32_t word, const struct a64_regs *r, struct arch_access ret[ARCH_ACCESSES])
{
	uint32_t m = bits(word, 20, 16), option = bits(word, 15, 13);
	uint64_t index = m == SP_OR_ZERO ? 0 : r->x[m];

	if (option == 2)
		index = (uint32_t)index; /* uxtw */
	else if (option == 6)
		index = (uint64_t)(int64_t)(int32_t)index; /* sxtw */
	else if (option != 3 && option != 7)
		return NOT_KNOWN;
	return sized(
		word, base(word, r) + (bits(word, 12, 12) ? index << scale_of(word) : index), ret);
}

/* ldadd, ldclr, ldeor, ldset, ldsmax...: opc 0 to 7 with o3 0; swp and ldapr with o3 1. */
static int atomic(uint32_t word, const struct a64_regs *r, struct arch_access ret[ARCH_ACCESSES])
{
	uint32_t len = 1u << bits(word, 31, 30), opc = bits(word, 14, 12);

	if (bits(word, 26, 26))
		return NOT_KNOWN;
	if (!bits(word, 15, 15) || opc == 0)
		return both(ret, base(word, r), len);
	return opc == 4 && bits(word, 23, 22) == 2 ? one(ret, base(word, r), len, false)
						   : NOT_KNOWN;
}

static int single(uint32_t word, const struct a64_regs *r, struct arch_access ret[ARCH_ACCESSES])
{
	enum { UNSCALED, POST, UNPRIVILEGED, PRE };
	uint64_t addr = base(word, r);

	if (bits(word, 24, 24))
		return sized(word, addr + ((uint64_t)bits(word, 21, 10) << scale_of(word)), ret);
	if (bits(word, 21, 21)) {
		if (bits(word, 11, 10) == 2)
			return by_register(word, r, ret);
		return bits(word, 11, 10) == 0 ? atomic(word, r, ret) : NOT_KNOWN;
	}
	if (bits(word, 11, 10) != POST) /* that changes the base afterwards */
		addr += (uint64_t)signed_bits(word, 20, 12);
	if (bits(word, 11, 10) == UNPRIVILEGED && bits(word, 26, 26))
		return NOT_KNOWN;
	return sized(word, addr, ret);
}

/* Bits 29 to 24 are 011001: ldapur, stlur. */
static int unscaled_ordered(
	uint32_t word, const struct a64_regs *r, struct arch_access ret[ARCH_ACCESSES])
{
	if (bits(word, 21, 21) || bits(word, 11, 10))
		return NOT_KNOWN; /* tags of memory are among them */
	return sized(word, base(word, r) + (uint64_t)signed_bits(word, 20, 12), ret);
}

static int load_or_store(
	uint32_t word, const struct a64_regs *r, struct arch_access ret[ARCH_ACCESSES])
{
	if (bits(word, 29, 24) == 0x08)
		return ordered(word, r, ret);
	if (bits(word, 29, 24) == 0x19)
		return unscaled_ordered(word, r, ret);
	if (bits(word, 29, 27) == 3 && bits(word, 25, 24) == 0)
		return literal(word, r, ret);
	if (bits(word, 29, 27) == 5 && !bits(word, 25, 25))
		return pair(word, r, ret);
	if (bits(word, 29, 27) == 7 && !bits(word, 25, 25))
		return single(word, r, ret);
	return NOT_KNOWN;
}

int a64_accesses(uint32_t word, const struct a64_regs *regs, struct arch_access ret[ARCH_ACCESSES])
{
	uint32_t op0 = bits(word, 28, 25);

	if ((op0 & 0xe) == 8) /* data processing, immediate */
		return 0;
	if ((op0 & 0xe) == 0xa)
		return branch_or_system(word);
	if ((op0 & 5) == 4)
		return load_or_store(word, regs, ret);
	if ((op0 & 7) == 5 || (op0 & 7) == 7) /* data processing: registers, vectors */
		return 0;
	return NOT_KNOWN; /* SVE, SME, and what is not allocated */
}
