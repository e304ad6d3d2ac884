/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's environment: fixed entries of the contract's page, then what the caller adds. */
#ifndef WIRE_ENVIRONMENT_H
#define WIRE_ENVIRONMENT_H

#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"
#include "wire/contract.h"

/* Sets c->env to the fixed entries for c's epoch and terminal. Nothing is the host's. */
void environment_init(struct contract *c);
/*
 * Adds entries NAME=VALUE in order; one replaces an earlier one of its name. ERR_USAGE for what is
 * none, ERR_LIMIT when there are too many; `what` begins the message ("--env").
 */
MUST_CHECK int environment_add(struct contract *c, const char *const *entries, size_t count,
	const char *what, struct error *err);

#endif
