/* SPDX-License-Identifier: Apache-2.0 */
/* Files on the logical clock: what the clock and the loop need of the file family. */
#ifndef SUPERVISE_FILES_H
#define SUPERVISE_FILES_H

#include "supervise/engine/call.h"

/* Before the guest starts. */
void files_init(void);
/* The clock is about to move: what the guest changed since the last move gets the time that ends
 * now. Called by clock_advance before it changes the clock, and once when the run ends. */
void files_settle(void);
/*
 * An enter handler's answer for a call that makes a file of this name (bind of a unix socket): its
 * row's leave handler is leave_mkdir.
 */
enum act files_making(struct task *t, const char *text);

#endif
