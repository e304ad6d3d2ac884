/* SPDX-License-Identifier: Apache-2.0 */
/* What a claim says that it needs of the machine. */
#ifndef REPLICATE_HARDWARE_H
#define REPLICATE_HARDWARE_H

#include "base/attr.h"
#include "base/error.h"
#include "replicate/claim.h"

/* ERR_UNSUPPORTED names the first thing that this machine has not: nothing is said of the claim. */
MUST_CHECK int hardware_check(const struct claim *c, struct error *err);
/* Whether the text of /proc/cpuinfo lists the flag, for every CPU alike. */
bool hardware_has_flag(const char *cpuinfo, const char *flag);

#endif
