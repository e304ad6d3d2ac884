/* SPDX-License-Identifier: Apache-2.0 */
/* Describes vdso_blob.S, and the two small pieces of code that other symbols get. */
#include "supervise/arch.h"

#include <string.h>

#include "base/bytes.h"
#include "supervise/arch/x86_64/counter.h"

_Static_assert(ARCH_COUNTER_PAGE == ARCH_COUNTER_PAGE_ASM, "one address");

extern const unsigned char vdso_blob[];
extern const uint64_t vdso_blob_offsets[];

const struct arch_vdso_blob *arch_vdso_blob(void)
{
	static struct arch_vdso_blob blob;
	static const char *const symbols[] = {"__vdso_clock_gettime", "__vdso_gettimeofday",
		"__vdso_time", "__vdso_clock_getres", "__vdso_getcpu", "__vdso_getrandom"};

	if (!blob.code) {
		blob.code = vdso_blob;
		blob.size = vdso_blob_offsets[0];
		blob.data = vdso_blob_offsets[1];
		blob.ready = vdso_blob_offsets[2];
		blob.gadget = vdso_blob_offsets[3];
		blob.start = vdso_blob_offsets[4];
		blob.start_data = vdso_blob_offsets[5];
		blob.entry_count = ARRAY_LEN(symbols);
		for (size_t i = 0; i < ARRAY_LEN(symbols); i++)
			blob.entries[i] =
				(struct arch_vdso_entry){symbols[i], vdso_blob_offsets[6 + i]};
	}
	return &blob;
}

size_t arch_vdso_jump(unsigned char *out, uint64_t from, uint64_t to)
{
	out[0] = 0xe9; /* jmp rel32 */
	bytes_store_u32(out + 1, (uint32_t)(to - from - 5));
	return 5;
}
