/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as base64url without padding (RFC 4648 section 5, as RFC 7515 uses it); one text a value.
 */
#ifndef CRYPTO_BASE64URL_H
#define CRYPTO_BASE64URL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"

/* Bytes of the text of len bytes, its NUL included. */
#define BASE64URL_SIZE(len) (((len)*4 + 2) / 3 + 1)

/* ret holds BASE64URL_SIZE(len). */
void base64url_format(const void *data, size_t len, char *ret);
/* True when text is the one text of exactly len bytes, which go to ret. */
bool base64url_parse(const char *text, void *ret, size_t len);

#endif
