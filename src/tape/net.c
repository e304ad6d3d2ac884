/* SPDX-License-Identifier: Apache-2.0 */
/* The payloads of records of connections: see net.h. */
#include "tape/net.h"

#include <string.h>

#include "base/bytes.h"

enum { BYTES = 1, DATAGRAMS = 2, PORT_MAX = 65535, ERRNO_MAX = 4095 };

void tape_connect_encode(unsigned char out[TAPE_CONNECT_SIZE], const struct tape_connect *c)
{
	bytes_store_u32(out, c->stream);
	bytes_store_u32(out + 4, c->datagrams ? DATAGRAMS : BYTES);
	bytes_store_u32(out + 8, c->family);
	bytes_store_u32(out + 12, c->port);
	memcpy(out + 16, c->ip, sizeof(c->ip));
	bytes_store_u32(out + 32, c->error);
	bytes_store_u64(out + 36, c->request);
}

void tape_received_encode(unsigned char out[TAPE_RECEIVED_HEAD], const struct tape_received *r)
{
	bytes_store_u32(out, r->stream);
	bytes_store_u32(out + 4, r->flags);
	bytes_store_u64(out + 8, r->request);
}

void tape_sent_encode(unsigned char out[TAPE_SENT_HEAD], const struct tape_sent *s)
{
	bytes_store_u32(out, s->stream);
	bytes_store_u32(out + 4, s->flags);
	bytes_store_u64(out + 8, s->request);
	bytes_store_u64(out + 16, s->bytes);
	memcpy(out + 24, s->sha256, sizeof(s->sha256));
}

int tape_connect_decode(const struct tape_record *record, struct tape_connect *ret)
{
	struct bytes_reader r = bytes_reader(record->payload, record->len);
	struct tape_connect c = {0};
	uint32_t type;

	c.stream = bytes_get_u32(&r);
	type = bytes_get_u32(&r);
	c.datagrams = type == DATAGRAMS;
	c.family = bytes_get_u32(&r);
	c.port = bytes_get_u32(&r);
	bytes_get(&r, c.ip, sizeof(c.ip));
	c.error = bytes_get_u32(&r);
	c.request = bytes_get_u64(&r);
	if (record->kind != TAPE_CONNECT || r.bad || r.pos != r.end || c.stream == 0 ||
		(type != BYTES && type != DATAGRAMS) || (c.family != 4 && c.family != 6) ||
		c.port > PORT_MAX || c.error > ERRNO_MAX)
		return -1;
	*ret = c;
	return 0;
}

static bool are_flags(uint32_t flags)
{
	return flags == 0 || flags == TAPE_NET_END || flags == TAPE_NET_RESET;
}

int tape_received_decode(const struct tape_record *record, struct tape_received *ret)
{
	struct bytes_reader r = bytes_reader(record->payload, record->len);
	struct tape_received in = {0};

	in.stream = bytes_get_u32(&r);
	in.flags = bytes_get_u32(&r);
	in.request = bytes_get_u64(&r);
	if (record->kind != TAPE_RECEIVED || r.bad || in.stream == 0 || !are_flags(in.flags))
		return -1;
	in.data = r.pos;
	in.len = (size_t)(r.end - r.pos);
	/* With bytes or with a flag; a datagram may be empty. */
	if (in.len && in.flags)
		return -1;
	*ret = in;
	return 0;
}

int tape_sent_decode(const struct tape_record *record, struct tape_sent *ret)
{
	struct bytes_reader r = bytes_reader(record->payload, record->len);
	struct tape_sent s = {0};

	s.stream = bytes_get_u32(&r);
	s.flags = bytes_get_u32(&r);
	s.request = bytes_get_u64(&r);
	s.bytes = bytes_get_u64(&r);
	bytes_get(&r, s.sha256, sizeof(s.sha256));
	if (record->kind != TAPE_SENT || r.bad || s.stream == 0 || !are_flags(s.flags))
		return -1;
	s.shown = r.pos;
	s.shown_len = (size_t)(r.end - r.pos);
	if (s.shown_len != (s.bytes < TAPE_SENT_SHOWN ? s.bytes : TAPE_SENT_SHOWN))
		return -1;
	*ret = s;
	return 0;
}
