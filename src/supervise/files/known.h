/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Absolute paths that were looked at and need no second look: what they name is plain, and cannot
 * become anything else without a call that the supervisor sees (compilers ask for the same
 * directories and headers thousands of times).
 */
#ifndef SUPERVISE_KNOWN_H
#define SUPERVISE_KNOWN_H

#include <stdbool.h>

enum {
	KNOWN_LINK = 1, /* readlink is the kernel's: nothing of /proc */
	KNOWN_OPEN = 2, /* so is open for reading: a regular file, a directory, or nothing */
};

bool known_is(const char *text, unsigned what);
void known_add(const char *text, unsigned what);
/* A name was made or moved by other ways than open. */
void known_forget(void);

#endif
