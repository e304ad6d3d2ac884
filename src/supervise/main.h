/* SPDX-License-Identifier: Apache-2.0 */
/* What the whole supervisor may ask about the run. */
#ifndef SUPERVISE_MAIN_H
#define SUPERVISE_MAIN_H

#include "wire/contract.h"

/* The contract of this run. Borrowed, never NULL once the guest starts. */
const struct contract *contract_get(void);

#endif
