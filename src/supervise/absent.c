/* SPDX-License-Identifier: Apache-2.0 */
/* Weak stand-ins for families that are not linked in: nothing is settled. */
#include "supervise/files.h"

#define WEAK __attribute__((weak))

WEAK void files_init(void)
{
}

WEAK void files_settle(void)
{
}
