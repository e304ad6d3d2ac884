/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SO_TIMESTAMP and SO_TIMESTAMPNS: the kernel stamps what arrives with the host's clock. Since the
 * logical clock stands between two jumps, each stamp names one logical instant.
 */
#ifndef SUPERVISE_STAMPS_H
#define SUPERVISE_STAMPS_H

#include <stdbool.h>
#include <stdint.h>

#include "supervise/engine/task.h"
#include "supervise/io/fdkind.h"

/* A guest asks for stamps: from now on jumps of the clock are remembered. */
void stamps_wanted(void);
/* The logical clock has moved. */
void stamps_clock_moved(void);
/* What arrives at this socket carries stamps. */
bool stamps_are_on(const struct gfd *g);
/* Exchanges the stamps in the control data of a message that t has received (guest address of its
 * msghdr). */
void stamps_exchange(struct task *t, uint64_t header);

#endif
