/* SPDX-License-Identifier: Apache-2.0 */
/* The host's randomness, for names that nobody else has. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stddef.h>

/* len hex digits and a NUL; size of ret is len + 1. Aborts when the kernel has none. */
void random_hex(char *ret, size_t len);

#endif
