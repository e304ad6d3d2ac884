/* SPDX-License-Identifier: Apache-2.0 */
/* The deny list of the guest: made by libseccomp when this is built, since that takes a third of a
 * millisecond, and the same for every run. */
#ifndef LAUNCH_DENY_H
#define LAUNCH_DENY_H

#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"
#include "wire/contract.h"

/* deny_make's: the filter as BPF (caller frees *ret). */
MUST_CHECK int deny_build(struct contract_filter_insn **ret, size_t *ret_len, struct error *err);

/* What it made. */
extern const struct contract_filter_insn deny_filter[];
extern const size_t deny_filter_len;

#endif
