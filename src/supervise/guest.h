/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's first process: from fork to its first exec. */
#ifndef SUPERVISE_GUEST_H
#define SUPERVISE_GUEST_H

#include <sys/types.h>

#include "base/attr.h"
#include "base/error.h"
#include "wire/contract.h"

/*
 * Forks the first process as the contract's first_pid, confines it and lets it go on to exec. With
 * c->deterministic it is seized and stands at its first traced call afterwards.
 */
MUST_CHECK int guest_start(
	const struct contract *c, const struct conditions *k, pid_t *ret_pid, struct error *err);
/* After the first process has ended: 1 and *ret_error when it never came to exec, else 0. */
int guest_exec_failed(struct error *ret_error);

#endif
