/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one error object. A function that can fail takes `struct error *` and returns 0, or -1 with
 * it filled; find/next functions return 1, 0 or -1. Plain data: a forked child may write it whole
 * up a pipe. Messages: lower case, no full stop, the user's words quoted, the remedy where known.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/attr.h"

enum errcode {
#define X(name, status, meaning) ERR_##name,
#include "base/error.def"
#undef X
	ERR_COUNT
};

struct error {
	enum errcode code;
	int sys; /* errno, or 0 */
	char msg[496];
};

_Static_assert(sizeof(struct error) <= 512, "fits one atomic pipe write");

/* The value of them all, visible to whoever reads or analyses one file alone. */
static inline int error_failed(void)
{
	return -1;
}

/* Fills err and returns -1, so that `return error_set(...)` reads well. err may be NULL. */
void error_fill(struct error *err, enum errcode code, const char *fmt, ...) PRINTF_LIKE(3, 4);
#define error_set(...) (error_fill(__VA_ARGS__), error_failed())
/* As error_set with ERR_SYSTEM (ERR_MISSING for ENOENT); appends ": strerror(errno)". */
void error_fill_sys(struct error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
#define error_sys(...) (error_fill_sys(__VA_ARGS__), error_failed())
/* Puts "words: " before the message there is; returns -1. */
void error_fill_wrap(struct error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
#define error_wrap(...) (error_fill_wrap(__VA_ARGS__), error_failed())
/* The exit status that error.def gives the code. */
int error_status(const struct error *err);

#endif
