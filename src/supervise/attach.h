/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor in a container that somebody else made: its descriptors come over a socket that is
 * bound into the container, and from there on nothing is different.
 */
#ifndef SUPERVISE_ATTACH_H
#define SUPERVISE_ATTACH_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"

/*
 * Connects to the socket and takes what becomes 0, 1, 2 and 3. The connection stays: a byte on it
 * wakes us as SIGUSR1 does in a container of our own, and its end is the end of the host, and ours.
 */
MUST_CHECK int attach_to(const char *path, struct error *err);
/* True after attach_to. */
bool attach_is_on(void);

#endif
