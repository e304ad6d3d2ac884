/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text to numbers: counts, sizes, durations and instants. Everything is decimal, nothing wraps, no
 * trailing text is accepted; errors are ERR_USAGE and quote the text.
 */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"

#define NUM_SECOND_NS 1000000000ull

MUST_CHECK int num_parse_u64(const char *text, uint64_t max, uint64_t *ret, struct error *err);
/* Bytes: digits, then nothing or one of K M G T (either case), 1024-based. */
MUST_CHECK int num_parse_size(const char *text, uint64_t *ret, struct error *err);
/* The mode of a file: 3 to 5 octal digits, at most 07777. */
MUST_CHECK int num_parse_mode(const char *text, unsigned *ret, struct error *err);
/* Digits with an optional fraction, then ns us ms s m h d; without a unit it is seconds. */
MUST_CHECK int num_parse_duration(const char *text, uint64_t *ret_ns, struct error *err);
/*
 * An instant since 1970: seconds with an optional fraction, "@" allowed before them, or RFC 3339
 * (2023-11-14T22:13:20Z, a fraction, +hh:mm; "T" may be a space). Nothing before 1970 and
 * nothing past 2^63 ns (the year 2262).
 */
MUST_CHECK int num_parse_time(const char *text, uint64_t *ret_ns, struct error *err);
/*
 * A double as the shortest decimal text that is read as the same one, as Python's repr has it but
 * without a needless ".0"; parse takes what JSON takes, and nothing that is not finite.
 */
enum { NUM_REAL_SIZE = 32 };
void num_format_real(char out[NUM_REAL_SIZE], double v);
MUST_CHECK int num_parse_real(const char *text, double *ret, struct error *err);
/* RFC 3339 in UTC with as many fraction digits as needed, into out. */
enum { NUM_TIME_SIZE = 32 };
void num_format_time(char out[NUM_TIME_SIZE], uint64_t ns);

#endif
