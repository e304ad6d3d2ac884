/* SPDX-License-Identifier: Apache-2.0 */
/* Describes vdso_blob.S, and the jump that other symbols get. */
#include "supervise/arch.h"

#include "base/bytes.h"
#include "supervise/arch/aarch64/counter.h"

_Static_assert(ARCH_COUNTER_PAGE == (uint64_t)ARCH_COUNTER_PAGE_HIGH << 32, "one address");

extern const unsigned char vdso_blob[];
extern const uint64_t vdso_blob_offsets[];

enum {
	BTI_C = 0xd503245f, /* a place that an indirect call may reach; does nothing on older CPUs
			     */
	B = 0x14000000,	    /* b: 26 bits of words from the instruction itself */
	B_MASK = 0x03ffffff,
};

/* __kernel_rt_sigreturn is left alone: signal frames return to it, and unwinders know its code. */
const struct arch_vdso_blob *arch_vdso_blob(void)
{
	static struct arch_vdso_blob blob;
	static const char *const symbols[] = {"__kernel_clock_gettime", "__kernel_gettimeofday",
		"__kernel_clock_getres", "__kernel_getrandom"};

	if (!blob.code) {
		blob.code = vdso_blob;
		blob.size = vdso_blob_offsets[0];
		blob.data = vdso_blob_offsets[1];
		blob.ready = vdso_blob_offsets[2];
		blob.gadget = vdso_blob_offsets[3];
		blob.entry_count = ARRAY_LEN(symbols);
		for (size_t i = 0; i < ARRAY_LEN(symbols); i++)
			blob.entries[i] =
				(struct arch_vdso_entry){symbols[i], vdso_blob_offsets[4 + i]};
	}
	return &blob;
}

size_t arch_vdso_jump(unsigned char *out, uint64_t from, uint64_t to)
{
	int64_t words = ((int64_t)to - (int64_t)from - 4) / 4;
	bytes_store_u32(out, BTI_C);
	bytes_store_u32(out + 4, B | ((uint32_t)words & B_MASK));
	return 8;
}
