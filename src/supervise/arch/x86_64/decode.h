/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code of x86-64 in 64-bit mode: lengths of instructions, and what memory they touch. */
#ifndef SUPERVISE_X86_64_DECODE_H
#define SUPERVISE_X86_64_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "supervise/arch.h"

enum { INSN_LENGTH_MAX = 15 };

/* The encoding, a column a space of opcodes (Intel SDM volume 2, appendix A). */
enum insn_map {
	MAP_ONE,
	MAP_0F,
	MAP_0F38,
	MAP_0F3A,
	MAP_VEX_0F,
	MAP_VEX_0F38,
	MAP_VEX_0F3A,
	MAP_EVEX,
	MAP_COUNT
};

/* What an instruction does to memory. */
enum insn_flag {
	INSN_MODRM = 1 << 0,
	INSN_IMM8 = 1 << 1,
	INSN_IMM16 = 1 << 2,  /* besides another immediate */
	INSN_IMMZ = 1 << 3,   /* 2 bytes with the operand size prefix, else 4 */
	INSN_REL32 = 1 << 4,  /* 4 bytes whatever the operand size */
	INSN_IMMV = 1 << 5,   /* as IMMZ, or 8 bytes with REX.W */
	INSN_OFFSET = 1 << 6, /* an address: 8 bytes, or 4 */
	INSN_LOAD = 1 << 7,   /* of the operand that ModRM names, if that is memory */
	INSN_STORE = 1 << 8,
	INSN_PUSH = 1 << 9,
	INSN_POP = 1 << 10,
	INSN_LEAVE = 1 << 11,
	INSN_TO_DI = 1 << 12, /* string instructions */
	INSN_FROM_SI = 1 << 13,
	INSN_FROM_DI = 1 << 14,
	INSN_OPAQUE = 1 << 15,	/* its length is known, what it does is not */
	INSN_INVALID = 1 << 16, /* in 64-bit mode, or not known at all */
	/* Bytes of the memory operand; without any of these it has the size of the operands. */
	INSN_SIZE1 = 1 << 17,
	INSN_SIZE2 = 1 << 18,
	INSN_SIZE4 = 1 << 19,
	INSN_SIZE8 = 1 << 20,
	INSN_SIZE10 = 1 << 21,
	INSN_SIZE16 = 1 << 22,
	INSN_VECTOR = 1 << 23, /* 4 with F3, 8 with F2, else 16, or 32 with VEX.L */
};

struct insn {
	unsigned length;
	unsigned flags;
	enum insn_map map;
	uint8_t opcode, modrm, sib, rex, segment; /* segment: the prefix, 0x64 or 0x65; else 0 */
	bool operand16, rep, repne, address32, wide_vector;
	int32_t displacement;
};

/*
 * The instruction at the start of `code`, of which `len` bytes can be read. False: it is invalid,
 * not known, or longer than that.
 */
bool insn_decode(const unsigned char *code, size_t len, struct insn *ret);
/* What it will touch when it runs with these registers: as arch_insn_accesses. */
int insn_accesses(
	const struct insn *insn, const struct regs *regs, struct arch_access ret[ARCH_ACCESSES]);

#endif
