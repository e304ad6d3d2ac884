/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a path is in Unicode's Normalization Form C (UAX #15), as the hash of a pack demands. */
#ifndef PACK_NFC_H
#define PACK_NFC_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes have to be UTF-8. Of nfc.def's version of Unicode. */
bool nfc_is(const char *text, size_t len);

#endif
