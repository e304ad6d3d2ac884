/* SPDX-License-Identifier: Apache-2.0 */
/* --out: what the guest wrote, as files of the caller's. */
#ifndef RUN_EXPORT_H
#define RUN_EXPORT_H

#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "run/tree.h"

struct export_counts {
	uint64_t files, bytes, deleted;
	uint64_t skipped; /* sockets, fifos, devices, what could not be read */
};

/* Refuses a directory that holds something or is none; one that is not there is fine. */
MUST_CHECK int export_check(const char *dir, struct error *err);
/*
 * Copies the entries of s into dir, which is made when it is not there. Nothing is followed, no
 * set-id bit is set, holes stay holes. On an error what was copied is removed again.
 */
MUST_CHECK int export_tree(
	const struct tree_source *s, const char *dir, struct export_counts *ret, struct error *err);

#endif
