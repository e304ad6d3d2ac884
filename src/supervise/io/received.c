/* SPDX-License-Identifier: Apache-2.0 */
/* Host times in messages: see received.h. */
#include "supervise/io/received.h"

#include "supervise/io/netlink.h"
#include "supervise/io/stamps.h"
#include "supervise/io/stream.h"

bool received_matters(const struct gfd *g)
{
	return g->kind == FDKIND_SOCKET && (netlink_is(g) || stamps_are_on(g));
}

int64_t received_message(
	struct task *t, const struct gfd *g, const struct giov *v, uint64_t header, int64_t len)
{
	uint64_t held = (uint64_t)len < v->total ? (uint64_t)len : v->total;
	size_t kept;

	if (len <= 0)
		return len;
	if (header && stamps_are_on(g))
		stamps_exchange(t, header);
	if (!netlink_is(g))
		return len;
	/* The kernel makes no messages longer than half a chunk. */
	held = held < STREAM_CHUNK ? held : STREAM_CHUNK;
	if (giov_get(v, t, 0, stream_chunk, held) != (ssize_t)held)
		return len;
	kept = netlink_blank(stream_chunk, held);
	if (giov_put(v, t, 0, stream_chunk, kept) != (ssize_t)kept)
		return len;
	return kept < held ? (int64_t)kept : len;
}
