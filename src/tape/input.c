/* SPDX-License-Identifier: Apache-2.0 */
/* The payload of an input record: see input.h. */
#include "tape/input.h"

#include "base/bytes.h"

void tape_input_encode(unsigned char out[TAPE_INPUT_HEAD], const struct tape_input *in)
{
	bytes_store_u32(out, in->stream);
	bytes_store_u32(out + 4, in->flags);
	bytes_store_u64(out + 8, in->request);
}

void tape_signal_encode(unsigned char out[TAPE_SIGNAL_SIZE], const struct tape_input *in)
{
	bytes_store_u32(out, in->signal);
	bytes_store_u64(out + 4, in->request);
}

static int decode_signal(const struct tape_record *record, struct tape_input *ret)
{
	enum { SIGNALS = 64 };
	struct bytes_reader r = bytes_reader(record->payload, record->len);
	struct tape_input in = {0};

	in.signal = bytes_get_u32(&r);
	in.request = bytes_get_u64(&r);
	if (r.bad || r.pos != r.end || in.signal < 1 || in.signal > SIGNALS)
		return -1;
	*ret = in;
	return 0;
}

int tape_input_decode(const struct tape_record *record, struct tape_input *ret)
{
	struct bytes_reader r = bytes_reader(record->payload, record->len);
	struct tape_input in = {0};

	if (record->kind == TAPE_SIGNAL)
		return decode_signal(record, ret);
	in.stream = bytes_get_u32(&r);
	in.flags = bytes_get_u32(&r);
	in.request = bytes_get_u64(&r);
	if (record->kind != TAPE_INPUT || r.bad || in.stream != 0 ||
		(in.flags & ~(uint32_t)TAPE_INPUT_END))
		return -1;
	in.data = r.pos;
	in.len = (size_t)(r.end - r.pos);
	/* Nothing, and not the end: it would be no event. */
	if ((in.len == 0) != (in.flags == TAPE_INPUT_END))
		return -1;
	*ret = in;
	return 0;
}
