/* SPDX-License-Identifier: Apache-2.0 */
/* The user's own extended attributes of one file; what else there is decides about rights. */
#ifndef CAS_XATTRS_H
#define CAS_XATTRS_H

#include <stddef.h>

#include "base/attr.h"
#include "cas/tar.h"

struct xattrs {
	char *names;
	struct tar_xattr *list; /* sorted by name; values are owned */
	size_t count;
};

void xattrs_finish(struct xattrs *x);
#define auto_xattrs CLEANUP(xattrs_finish)

/* Those whose names begin with "user."; none where the file system has none. -1 with errno. */
int xattrs_read(int fd, struct xattrs *x);

#endif
