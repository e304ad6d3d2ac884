/* SPDX-License-Identifier: Apache-2.0 */
/* One decision as 48 bytes: u16 kind, u16 nr, u32 task, u64 now, 3 x u64 args, i64 result. */
#include "wire/decision.h"

#include "base/bytes.h"

void decision_encode(unsigned char out[DECISION_SIZE], const struct decision *d)
{
	bytes_store_u32(out, (uint32_t)d->kind | (uint32_t)d->nr << 16);
	bytes_store_u32(out + 4, d->task);
	bytes_store_u64(out + 8, d->now_ns);
	for (int i = 0; i < 3; i++)
		bytes_store_u64(out + 16 + 8 * i, d->args[i]);
	bytes_store_u64(out + 40, (uint64_t)d->result);
}

void decision_decode(const unsigned char in[DECISION_SIZE], struct decision *ret_d)
{
	uint32_t head = bytes_load_u32(in);

	ret_d->kind = (uint16_t)head;
	ret_d->nr = (uint16_t)(head >> 16);
	ret_d->task = bytes_load_u32(in + 4);
	ret_d->now_ns = bytes_load_u64(in + 8);
	for (int i = 0; i < 3; i++)
		ret_d->args[i] = bytes_load_u64(in + 16 + 8 * i);
	ret_d->result = (int64_t)bytes_load_u64(in + 40);
}
