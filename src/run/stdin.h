/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input: what kind it is, and the same bytes again for a second run. */
#ifndef RUN_STDIN_H
#define RUN_STDIN_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"
#include "wire/contract.h"

struct stdin_source {
	enum contract_stdin kind;
	int file;  /* of a regular file or a spool: owned */
	int spool; /* what a stream has given so far, for a second run: owned, or -1 */
	bool is_second;
};

/*
 * Looks at descriptor 0 and fills stdin_kind and, for a regular file, stdin_digest of the contract.
 * A file that is not at its start is read from where it stands, through a copy. A terminal counts
 * only when the contract has one: otherwise `sandglass run ... | less` would take the keys of less.
 */
MUST_CHECK int stdin_open(struct stdin_source *s, struct contract *c, struct error *err);
void stdin_close(struct stdin_source *s);
#define auto_stdin CLEANUP(stdin_close)

/* Keeps what the stream gives from now on, so that stdin_rewind can give it again. */
MUST_CHECK int stdin_keep(struct stdin_source *s, struct error *err);
/* The next run reads the same bytes from their start. */
MUST_CHECK int stdin_rewind(struct stdin_source *s, struct error *err);
/* A new descriptor of what the guest (a file) or the pump (a stream) reads; the caller owns it. */
MUST_CHECK int stdin_reader(const struct stdin_source *s, int *ret_fd, struct error *err);

#endif
