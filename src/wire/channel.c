/* SPDX-License-Identifier: Apache-2.0 */
/* The host's end of the control socket: see channel.h and docs/format/control. */
#include "wire/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/mem.h"

enum { RECEIVE_CHUNK = 64 * 1024 };

int channel_open(struct channel *c, int fd, struct error *err)
{
	*c = (struct channel){.fd = fd};
	if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		return error_sys(err, "make the control socket non-blocking");
	return 0;
}

void channel_close(struct channel *c)
{
	fd_close(&c->fd);
	bytes_finish(&c->in);
	bytes_finish(&c->out);
	c->taken = c->sent = 0;
}

void channel_put(struct channel *c, enum frame_type type, const void *payload, size_t len)
{
	bytes_put_u32(&c->out, type);
	bytes_put_u32(&c->out, (uint32_t)len);
	bytes_put(&c->out, payload, len);
}

bool channel_has_output(const struct channel *c)
{
	return c->sent < c->out.len;
}

int channel_flush(struct channel *c, struct error *err)
{
	while (channel_has_output(c)) {
		ssize_t n = send(c->fd, c->out.data + c->sent, c->out.len - c->sent,
			MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
			n = (ssize_t)(c->out.len - c->sent);
		if (n < 0)
			return error_sys(err, "send to the supervisor");
		c->sent += (size_t)n;
	}
	c->out.len = c->sent = 0;
	return 0;
}

int channel_fill(struct channel *c, struct error *err)
{
	size_t left = c->in.len - c->taken;
	ssize_t n;

	if (c->taken > 0) {
		memmove(c->in.data, c->in.data + c->taken, left);
		c->in.len = left;
		c->taken = 0;
	}
	if (c->in.room - c->in.len < RECEIVE_CHUNK) {
		c->in.room = c->in.len * 2 + RECEIVE_CHUNK;
		c->in.data = mem_grow(c->in.data, c->in.room, 1);
	}
	n = recv(c->fd, c->in.data + c->in.len, c->in.room - c->in.len, MSG_DONTWAIT);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n < 0 && errno != ECONNRESET)
		return error_sys(err, "receive from the supervisor");
	if (n <= 0)
		c->ended = true;
	else
		c->in.len += (size_t)n;
	return 0;
}

int channel_next(
	struct channel *c, uint32_t *ret_type, struct bytes_reader *ret_payload, struct error *err)
{
	size_t left = c->in.len - c->taken;
	const unsigned char *p;
	uint32_t type, len;

	if (left < FRAME_HEADER)
		return 0;
	p = c->in.data + c->taken;
	type = bytes_load_u32(p);
	len = bytes_load_u32(p + 4);
	if (!frame_name(type))
		return error_set(err, ERR_FORMAT, "control frame of unknown type %u", type);
	if (len > FRAME_PAYLOAD_MAX)
		return error_set(err, ERR_FORMAT, "control frame of %u bytes", len);
	if (left - FRAME_HEADER < len)
		return 0;
	*ret_type = type;
	*ret_payload = bytes_reader(p + FRAME_HEADER, len);
	c->taken += FRAME_HEADER + (size_t)len;
	return 1;
}
