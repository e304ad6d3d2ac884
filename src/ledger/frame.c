/* SPDX-License-Identifier: Apache-2.0 */
/* The frames between a port and a link as bytes: see frame.h. */
#include "ledger/frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void frame_begin(struct bytes *b, enum ledger_frame kind)
{
	bytes_put_u32(b, 0);
	bytes_put_u8(b, (uint8_t)kind);
}

void frame_end(struct bytes *b)
{
	bytes_store_u32(b->data, (uint32_t)(b->len - 4));
}

void frame_put_text(struct bytes *b, const char *text, size_t len)
{
	if (text)
		bytes_put_block(b, text, len);
	else
		bytes_put_u32(b, UINT32_MAX);
}

static void put_string(struct bytes *b, const char *text)
{
	frame_put_text(b, text, text ? strlen(text) : 0);
}

const char *frame_get_text(struct bytes_reader *r, size_t max, size_t *ret_len)
{
	const unsigned char *data;

	*ret_len = 0;
	if ((size_t)(r->end - r->pos) >= 4 && bytes_load_u32(r->pos) == UINT32_MAX) {
		r->pos += 4;
		return NULL;
	}
	data = bytes_get_block(r, max, ret_len);
	return r->bad ? NULL : (const char *)data;
}

char *frame_get_string(struct bytes_reader *r, size_t max)
{
	size_t len;
	const char *text = frame_get_text(r, max, &len);

	if (!text)
		return NULL;
	if (memchr(text, 0, len)) {
		r->bad = true;
		return NULL;
	}
	return mem_strndup(text, len);
}

void frame_put_event(struct bytes *b, const struct ledger_event *e)
{
	bytes_put_u64(b, e->seq);
	bytes_put_u64(b, e->time_ns);
	bytes_put_u64(b, e->block);
	put_string(b, e->id);
	put_string(b, e->type);
	put_string(b, e->actor);
	put_string(b, e->caused_by);
	put_string(b, e->frame);
	frame_put_text(b, e->payload, e->payload_len);
}

void frame_event_finish(struct frame_event *e)
{
	for (size_t i = 0; i < ARRAY_LEN(e->texts); i++)
		free(e->texts[i]);
	*e = (struct frame_event){0};
}

void frame_get_event(struct bytes_reader *r, struct frame_event *ret)
{
	struct ledger_event *e = &ret->event;

	*ret = (struct frame_event){0};
	e->seq = bytes_get_u64(r);
	e->time_ns = bytes_get_u64(r);
	e->block = bytes_get_u64(r);
	for (size_t i = 0; i < 5; i++)
		ret->texts[i] = frame_get_string(r, LEDGER_LABEL_MAX);
	ret->texts[5] = frame_get_string(r, LEDGER_PAYLOAD_MAX);
	e->id = ret->texts[0];
	e->type = ret->texts[1];
	e->actor = ret->texts[2];
	e->caused_by = ret->texts[3];
	e->frame = ret->texts[4];
	e->payload = ret->texts[5];
	e->payload_len = e->payload ? strlen(e->payload) : 0;
	if (!e->type || !e->payload)
		r->bad = true;
}
