/* SPDX-License-Identifier: Apache-2.0 */
/* Signals that would end this program, taken through a descriptor. */
#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

#include "base/attr.h"
#include "base/error.h"

/*
 * Blocks HUP, INT, QUIT, TERM and, unless it is 0, `more`, for good: they are read from *ret_fd
 * (see signalfd(2); non-blocking, the caller's to close), so that none cuts work short between two
 * steps. A program that is started has to unblock them. 0 or -1.
 */
MUST_CHECK int signals_open(int more, int *ret_fd, struct error *err);

#endif
