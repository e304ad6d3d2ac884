/* SPDX-License-Identifier: Apache-2.0 */
/* Where a connection leads: see endpoint.h. */
#include "wire/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum { IN6_SHORTEST = 24, PORT_MAX = 65535 }; /* SIN6_LEN_RFC2133: without the scope id */

void endpoint_put(struct bytes *out, const struct endpoint *a)
{
	bytes_put_u32(out, a->family);
	bytes_put_u32(out, a->port);
	bytes_put(out, a->ip, sizeof(a->ip));
}

void endpoint_get(struct bytes_reader *r, struct endpoint *ret)
{
	ret->family = bytes_get_u32(r);
	ret->port = bytes_get_u32(r);
	bytes_get(r, ret->ip, sizeof(ret->ip));
	if ((ret->family != 4 && ret->family != 6) || ret->port > PORT_MAX)
		r->bad = true;
}

static void from_v4(struct endpoint *a, const unsigned char ip[4])
{
	static const unsigned char any[4], loopback[4] = {127, 0, 0, 1};

	a->family = 4;
	memset(a->ip, 0, sizeof(a->ip));
	memcpy(a->ip, memcmp(ip, any, 4) ? ip : loopback, 4);
}

int endpoint_from(struct endpoint *ret, const struct sockaddr *from, socklen_t len)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6 = {0};

	if (from->sa_family == AF_INET && len >= sizeof(in)) {
		memcpy(&in, from, sizeof(in));
		ret->port = ntohs(in.sin_port);
		from_v4(ret, (const unsigned char *)&in.sin_addr);
		return 0;
	}
	if (from->sa_family != AF_INET6 || len < IN6_SHORTEST)
		return -1;
	memcpy(&in6, from, len < sizeof(in6) ? len : sizeof(in6));
	ret->port = ntohs(in6.sin6_port);
	if (IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr)) {
		from_v4(ret, in6.sin6_addr.s6_addr + 12);
		return 0;
	}
	ret->family = 6;
	memcpy(ret->ip, in6.sin6_addr.s6_addr, sizeof(ret->ip));
	if (IN6_IS_ADDR_UNSPECIFIED(&in6.sin6_addr))
		ret->ip[15] = 1;
	return 0;
}

socklen_t endpoint_to(const struct endpoint *a, struct sockaddr_storage *ret)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)a->port)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)a->port)};

	memset(ret, 0, sizeof(*ret));
	if (a->family == 4) {
		memcpy(&in.sin_addr, a->ip, 4);
		memcpy(ret, &in, sizeof(in));
		return sizeof(in);
	}
	memcpy(&in6.sin6_addr, a->ip, sizeof(a->ip));
	memcpy(ret, &in6, sizeof(in6));
	return sizeof(in6);
}

bool endpoint_is_loopback(const struct endpoint *a)
{
	static const unsigned char v6[16] = {[15] = 1};

	return a->family == 4 ? a->ip[0] == 127 : memcmp(a->ip, v6, sizeof(v6)) == 0;
}

bool endpoint_equal(const struct endpoint *a, const struct endpoint *b)
{
	return a->family == b->family && a->port == b->port &&
	       memcmp(a->ip, b->ip, sizeof(a->ip)) == 0;
}

void endpoint_text(const struct endpoint *a, char ret[static ENDPOINT_TEXT])
{
	char ip[INET6_ADDRSTRLEN] = "?";

	inet_ntop(a->family == 4 ? AF_INET : AF_INET6, a->ip, ip, sizeof(ip));
	snprintf(ret, ENDPOINT_TEXT, a->family == 4 ? "%s:%u" : "[%s]:%u", ip, a->port);
}
