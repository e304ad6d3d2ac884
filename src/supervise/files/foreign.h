/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a container runtime puts into the root beside the image, and the native container does not:
 * listings and stat(2) do not show it, so that one image is one guest on all of them. Who opens it
 * by its name gets it: it says nothing that the guest may not know.
 */
#ifndef SUPERVISE_FOREIGN_H
#define SUPERVISE_FOREIGN_H

#include <stdbool.h>

/* The name may be of such a file, wherever it is: only then is the path worth asking for. */
bool foreign_is_name(const char *name);
/* The file at this path, absolute and without links, is not shown. */
bool foreign_is_hidden(const char *path);

#endif
