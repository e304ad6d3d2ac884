/* SPDX-License-Identifier: Apache-2.0 */
/* Weak stand-ins for families that are not linked in: nothing is settled, nothing is external. */
#include "supervise/files.h"
#include "supervise/io.h"

#define WEAK __attribute__((weak))

WEAK void files_init(void)
{
}

WEAK void files_settle(void)
{
}

WEAK void io_init(bool stdin_is_external, bool tty)
{
	(void)stdin_is_external;
	(void)tty;
}

WEAK bool io_wait_external(void)
{
	return false;
}
