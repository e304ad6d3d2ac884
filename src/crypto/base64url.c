/* SPDX-License-Identifier: Apache-2.0 */
/* base64url without padding: see base64url.h. */
#include "crypto/base64url.h"

#include <stdint.h>
#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void base64url_format(const void *data, size_t len, char *ret)
{
	const unsigned char *p = data;
	uint32_t bits = 0;
	unsigned count = 0;

	for (size_t i = 0; i < len; i++) {
		bits = bits << 8 | p[i];
		for (count += 8; count >= 6; count -= 6)
			*ret++ = letters[bits >> (count - 6) & 63];
	}
	if (count)
		*ret++ = letters[bits << (6 - count) & 63];
	*ret = '\0';
}

bool base64url_parse(const char *text, void *ret, size_t len)
{
	unsigned char *out = ret;
	uint32_t bits = 0;
	unsigned count = 0;
	size_t done = 0;

	if (strlen(text) + 1 != BASE64URL_SIZE(len))
		return false;
	for (; *text; text++) {
		const char *letter = strchr(letters, *text);

		if (!letter)
			return false;
		bits = (bits << 6 | (uint32_t)(letter - letters)) & 0xffff;
		count += 6;
		if (count >= 8) {
			count -= 8;
			out[done++] = (unsigned char)(bits >> count);
		}
	}
	/* The bits that are left over have to be zero, or there were two texts. */
	return done == len && (bits & ((1u << count) - 1)) == 0;
}
