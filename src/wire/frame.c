/* SPDX-License-Identifier: Apache-2.0 */
/* Control frames: see frame.h. */
#include "wire/frame.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/fd.h"
#include "base/mem.h"

const char *frame_name(uint32_t type)
{
	switch (type) {
#define X(name, number, direction, payload) \
	case number: \
		return #name;
		FRAME_TYPES(X)
#undef X
	default:
		return NULL;
	}
}

void frame_put(struct bytes *out, enum frame_type type, const void *payload, size_t len)
{
	bytes_put_u32(out, type);
	bytes_put_block(out, payload, len);
}

int frame_send(int sock, enum frame_type type, const void *payload, size_t len, struct error *err)
{
	unsigned char header[FRAME_HEADER];
	struct iovec iov[2] = {{header, sizeof(header)}, {(void *)(uintptr_t)payload, len}};
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};
	size_t left = sizeof(header) + len;

	bytes_store_u32(header, type);
	bytes_store_u32(header + 4, (uint32_t)len);
	while (left > 0) {
		ssize_t n = sendmsg(sock, &msg, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "send a %s frame", frame_name(type));
		left -= (size_t)n;
		for (struct iovec *v = iov; v < iov + 2; v++) {
			size_t part = (size_t)n < v->iov_len ? (size_t)n : v->iov_len;

			v->iov_base = (char *)v->iov_base + part;
			v->iov_len -= part;
			n -= (ssize_t)part;
		}
	}
	return 0;
}

int frame_recv(int sock, uint32_t *ret_type, struct bytes *buf, struct error *err)
{
	unsigned char header[FRAME_HEADER];
	uint32_t type, len;
	int r = fd_read_all(sock, header, sizeof(header), err);

	if (r <= 0)
		return r;
	type = bytes_load_u32(header);
	len = bytes_load_u32(header + 4);
	if (!frame_name(type))
		return error_set(err, ERR_FORMAT, "control frame of unknown type %u", type);
	if (len > FRAME_PAYLOAD_MAX)
		return error_set(err, ERR_FORMAT, "control frame of %u bytes", len);
	if (len > buf->room) {
		buf->data = mem_grow(buf->data, len, 1);
		buf->room = len;
	}
	buf->len = len;
	r = len ? fd_read_all(sock, buf->data, len, err) : 1;
	if (r == 0)
		return error_set(err, ERR_FORMAT, "control frame ends in its payload");
	if (r < 0)
		return -1;
	*ret_type = type;
	return 1;
}
