/* SPDX-License-Identifier: Apache-2.0 */
/* A file system of its own for the output: bounded in bytes and files, nosuid and nodev. */
#ifndef REPLICATE_BOUNDED_H
#define REPLICATE_BOUNDED_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/error.h"
#include "replicate/runtime.h"

/*
 * Mounts it over the job's output directory, for the owner; root alone can. *ret is its root, which
 * stays readable after bounded_unmount. Private: in a mount namespace that this process alone has
 * from then on, so that nothing stays whatever becomes of us; else a daemon has to see it.
 */
MUST_CHECK int bounded_mount(
	const struct job *j, bool is_private, uid_t uid, gid_t gid, int *ret, struct error *err);
MUST_CHECK int bounded_unmount(const struct job *j, struct error *err);

#endif
