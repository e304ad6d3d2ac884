/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a run executed, and their digests as evidence of the host view. */
#ifndef RUN_PROGRAMS_H
#define RUN_PROGRAMS_H

#include <stddef.h>

#include "base/attr.h"
#include "crypto/digest.h"
#include "wire/contract.h"

enum { PROGRAMS_MAX = 4096 };

struct program {
	char *path;		  /* inside */
	char sha256[DIGEST_TEXT]; /* "" when the file is not one of the host's, or is gone */
};

struct programs {
	struct program *items;
	size_t count;
};

void programs_finish(struct programs *p);
/* Remembers a path once, in order of first use; past PROGRAMS_MAX it is dropped. */
void programs_add(struct programs *p, const char *path);
/*
 * Digests them and adds the interpreters that they name ("#!" and ELF PT_INTERP). written is the
 * written layer of the private copy, or -1.
 */
void programs_digest(struct programs *p, const struct contract *c, int written);
/* What "#!" or PT_INTERP of a file names (caller frees), or NULL. */
char *programs_interpreter(int fd);
/* The host's file behind a path inside: caller frees; NULL when it is not the host's. */
char *programs_host_path(const struct contract *c, const char *path);

#endif
