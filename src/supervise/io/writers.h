/* SPDX-License-Identifier: Apache-2.0 */
/* Whether anybody has a file open for writing, or mapped so. */
#ifndef SUPERVISE_WRITERS_H
#define SUPERVISE_WRITERS_H

#include <stdbool.h>

#include "base/attr.h"

/*
 * Asks the kernel: a read lease is refused while a regular file is open for writing (fcntl(2),
 * F_SETLEASE); it is given back at once. 1: there is one; 0: none, or nothing that can be written
 * to unseen; -1: this file system or this file's mode cannot tell.
 */
int writers_of(int fd);
/* The slow answer for those: looks through the guests' descriptors and mappings once... */
void writers_scan(void);
/* ...then says whether this file was among them. */
bool writers_scanned(int fd);
void writers_scan_finish(void);

#endif
