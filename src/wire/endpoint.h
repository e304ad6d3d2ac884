/* SPDX-License-Identifier: Apache-2.0 */
/* Where a connection leads, as frames and tapes have it: 24 bytes. */
#ifndef WIRE_ENDPOINT_H
#define WIRE_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/attr.h"
#include "base/bytes.h"

enum {
	ENDPOINT_SIZE =
		24, /* u32 4 or 6, u32 port, 16 bytes: an IPv4 address has four, then zeros */
	ENDPOINT_TEXT = 64,
};

struct endpoint {
	uint32_t family; /* 4 or 6 */
	uint32_t port;
	unsigned char ip[16];
};

void endpoint_put(struct bytes *out, const struct endpoint *a);
/* One that is none makes the reader bad. */
void endpoint_get(struct bytes_reader *r, struct endpoint *ret);
/*
 * From a socket's: 0, or -1 when it is of neither family. An IPv4 address within an IPv6 one is the
 * former, and "any" is loopback, as connect(2) has it.
 */
MUST_CHECK int endpoint_from(struct endpoint *ret, const struct sockaddr *from, socklen_t len);
socklen_t endpoint_to(const struct endpoint *a, struct sockaddr_storage *ret);
bool endpoint_is_loopback(const struct endpoint *a);
bool endpoint_equal(const struct endpoint *a, const struct endpoint *b);
/* "192.0.2.1:80", "[2001:db8::1]:80" */
void endpoint_text(const struct endpoint *a, char ret[static ENDPOINT_TEXT]);

#endif
