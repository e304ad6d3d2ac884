/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code of aarch64: what memory an instruction touches. */
#ifndef SUPERVISE_AARCH64_DECODE_H
#define SUPERVISE_AARCH64_DECODE_H

#include <stdint.h>

#include "supervise/arch.h"

/* What the decoder has to know of the registers: no struct of one machine, so that tests run on
 * another. */
struct a64_regs {
	uint64_t x[31], sp, pc;
};

/*
 * What `word` will touch when it runs with these registers: how many accesses; -1: not known, and
 * then it may write anything. Known are the integer and branch instructions, plain loads and stores
 * of any registers, ldar and its like, and the atomic ones of Armv8.1. Not known are exclusive
 * pairs, which no single step gets through, and SVE.
 */
int a64_accesses(uint32_t word, const struct a64_regs *regs, struct arch_access ret[ARCH_ACCESSES]);

#endif
