/* SPDX-License-Identifier: Apache-2.0 */
/* The fewest forced switches that still make a program fail. */
#ifndef RUN_SHRINK_H
#define RUN_SHRINK_H

#include "base/attr.h"
#include "base/error.h"
#include "run/attempt.h"

/*
 * The switches that a run was forced to make, in the order in which it made them (caller frees);
 * more than CONTRACT_SWITCHES_MAX are cut.
 */
MUST_CHECK int shrink_switches(const struct attempt *a, struct contract_switch **ret,
	size_t *ret_count, struct error *err);

/*
 * Delta debugging (Zeller and Hildebrandt, 2002) over the list, as far as `tries` runs go; once it
 * is short, the smallest of its subsets. s->judge says whether a run still fails; s->arg is given
 * to it, s->vary is not used. 1: *list is shrunk in place, *ret is the run that it makes; 0: not
 * even the whole list fails again.
 */
MUST_CHECK int shrink(const struct attempts *s, size_t tries, struct contract_switch *list,
	size_t *count, struct attempt *ret, struct error *err);

#endif
