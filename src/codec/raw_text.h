/* SPDX-License-Identifier: Apache-2.0 */
/* What reading and checking JSON text have in common. For raw.c and raw_check.c alone. */
#ifndef CODEC_RAW_TEXT_H
#define CODEC_RAW_TEXT_H

#include <stdbool.h>

#include "codec/raw.h"

enum { RAW_DEPTH_MAX = 64 };

static inline bool raw_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

const char *raw_skip_space(const char *p, const char *end);
/* The value of four hexadecimal digits at p, or -1. */
int raw_hex_4(const char *p, const char *end);
/* Of a checked object. */
bool raw_has_duplicates(struct raw object);

#endif
