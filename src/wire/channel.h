/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's end of the control socket: frames in and out without ever blocking, so that one poll
 * loop can serve it next to the guest's output, signals and a time-out.
 */
#ifndef WIRE_CHANNEL_H
#define WIRE_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/error.h"
#include "wire/frame.h"

struct channel {
	int fd;		 /* owned; -1 when closed */
	bool ended;	 /* the other side closed it and everything whole was handed out */
	struct bytes in; /* received; `taken` bytes of it were handed out */
	size_t taken;
	struct bytes out; /* to send; `sent` bytes of it are gone */
	size_t sent;
};

/* Takes fd and makes it non-blocking. */
MUST_CHECK int channel_open(struct channel *c, int fd, struct error *err);
void channel_close(struct channel *c);
#define auto_channel CLEANUP(channel_close)

/* Appends a frame to what is to be sent. */
void channel_put(struct channel *c, enum frame_type type, const void *payload, size_t len);
bool channel_has_output(const struct channel *c);
/* Sends what the socket takes now. A peer that is gone drops it: the read side tells. */
MUST_CHECK int channel_flush(struct channel *c, struct error *err);
/* Receives what is there now; at the peer's end sets `ended`. */
MUST_CHECK int channel_fill(struct channel *c, struct error *err);
/*
 * 1 and the next whole frame, whose payload is borrowed until the next call; 0 when there is none;
 * -1 for bytes that are no frame (ERR_FORMAT).
 */
MUST_CHECK int channel_next(
	struct channel *c, uint32_t *ret_type, struct bytes_reader *ret_payload, struct error *err);

#endif
