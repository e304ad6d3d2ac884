/* SPDX-License-Identifier: Apache-2.0 */
/* The frames between a port and a link as bytes: see port.h. */
#ifndef LEDGER_FRAME_H
#define LEDGER_FRAME_H

#include "base/bytes.h"
#include "ledger/ledger.h"

enum ledger_frame {
	FRAME_HELLO = 1,
	FRAME_READ,
	FRAME_APPEND,
	FRAME_EVENTS,
	FRAME_DONE,
	FRAME_REFUSED,
};

enum {
	FRAME_HEAD = 5,
	/* One payload of the largest size, and room for the rest of its event. */
	FRAME_MAX = LEDGER_PAYLOAD_MAX + 65536,
	FRAME_BATCH = 65536, /* bytes after which an answer takes no further event */
};

/* Begins a frame in an empty buffer; frame_end fills in the length. */
void frame_begin(struct bytes *b, enum ledger_frame kind);
void frame_end(struct bytes *b);
void frame_put_text(struct bytes *b, const char *text, size_t len);
/* Borrowed text and its length, NULL for none; it has no NUL after it. Bad: over max. */
const char *frame_get_text(struct bytes_reader *r, size_t max, size_t *ret_len);
/* The same as a heap string, NULL for none (caller frees); one with a NUL in it is bad. */
char *frame_get_string(struct bytes_reader *r, size_t max);

void frame_put_event(struct bytes *b, const struct ledger_event *e);
/* An event whose texts are on the heap; frame_event_finish frees them. */
struct frame_event {
	struct ledger_event event;
	char *texts[6];
};
void frame_event_finish(struct frame_event *e);
/* Reader goes bad when there is none. */
void frame_get_event(struct bytes_reader *r, struct frame_event *ret);

#endif
