/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's terminal, made in the sandbox's own devpts so that it has a name there. */
#ifndef LAUNCH_TTY_H
#define LAUNCH_TTY_H

#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"

/*
 * The first terminal of /dev/pts, of this size; the caller owns both ends. For init, once it is in
 * its view and has the guest's ids: the guest then owns it.
 */
MUST_CHECK int tty_open(
	uint16_t columns, uint16_t rows, int *ret_master, int *ret_slave, struct error *err);

#endif
