/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of one run as bytes. */
#include "wire/counts.h"

void counts_encode(struct bytes *out, const struct counts *c)
{
#define X(name) bytes_put_u64(out, c->name);
	COUNTS_FIELDS(X)
#undef X
}

void counts_decode(struct bytes_reader *r, struct counts *ret_c)
{
#define X(name) ret_c->name = bytes_get_u64(r);
	COUNTS_FIELDS(X)
#undef X
}
