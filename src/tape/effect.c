/* SPDX-License-Identifier: Apache-2.0 */
/* The payload of an effect record: see effect.h. */
#include "tape/effect.h"

#include "base/bytes.h"

void tape_effect_encode(unsigned char out[TAPE_EFFECT_SIZE], const struct tape_effect *e)
{
	bytes_store_u32(out, e->stream);
	bytes_store_u32(out + 4, e->state);
	bytes_store_u64(out + 8, e->request);
	bytes_store_u64(out + 16, e->offset);
	bytes_store_u32(out + 24, e->len);
	bytes_store_u32(out + 28, e->sum);
	bytes_store_u64(out + 32, e->device);
	bytes_store_u64(out + 40, e->inode);
	bytes_store_u64(out + 48, e->position);
}

int tape_effect_decode(const struct tape_record *record, struct tape_effect *ret)
{
	struct bytes_reader r = bytes_reader(record->payload, record->len);
	struct tape_effect e;

	e.stream = bytes_get_u32(&r);
	e.state = bytes_get_u32(&r);
	e.request = bytes_get_u64(&r);
	e.offset = bytes_get_u64(&r);
	e.len = bytes_get_u32(&r);
	e.sum = bytes_get_u32(&r);
	e.device = bytes_get_u64(&r);
	e.inode = bytes_get_u64(&r);
	e.position = bytes_get_u64(&r);
	if (record->kind != TAPE_EFFECT || r.bad || r.pos != r.end || e.stream < 1 ||
		e.stream > 2 || e.state > TAPE_EFFECT_DONE || e.len == 0 ||
		e.offset > UINT64_MAX - e.len)
		return -1;
	*ret = e;
	return 0;
}
