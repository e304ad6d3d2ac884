/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between the container runtimes, as rows of one table. */
#ifndef OCI_DIALECT_H
#define OCI_DIALECT_H

#include <stdbool.h>
#include <stddef.h>

/* The lists are NULL-terminated words. */
struct dialect {
	const char *name;	    /* what the user types, and the program's name */
	const char *const *run;	    /* after `run`: what the others do not need or know */
	const char *const *inspect; /* before the image: its JSON comes out */
	const char *const *version; /* succeeds when the runtime can be used now */
	const char *const *oom;	    /* before the container's name: the events of its end */
	bool knows_tmpfs;	    /* knows uid=, gid= and nr_inodes= of a tmpfs */
	bool wants_limits;	    /* limits of descriptors and processes have to be given */
	const char *start;	    /* how to start it, for messages */
};

extern const struct dialect dialects[];
extern const size_t dialect_count;

/* NULL when there is none of this name. */
const struct dialect *dialect_find(const char *name);

#endif
