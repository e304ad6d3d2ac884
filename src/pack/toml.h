/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOML 1.0 (https://toml.io/en/v1.0.0) as a JSON value: what a manifest is written in. Strict, and
 * bounded in size and depth.
 *
 * A float, date or time is checked in form and then stands as the real number 0: no key of a
 * manifest takes one. Narrower than TOML: integers have 64 bits, keys hold no NUL.
 */
#ifndef PACK_TOML_H
#define PACK_TOML_H

#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"
#include "codec/json.h"

enum { TOML_MAX = 256 * 1024, TOML_DEPTH_MAX = 64 };

/* The caller owns *ret, an object whose members are in the order of the text. ERR_FORMAT names the
 * line, ERR_LIMIT a text over TOML_MAX. */
MUST_CHECK int toml_parse(const char *text, size_t len, json_t **ret, struct error *err);

#endif
