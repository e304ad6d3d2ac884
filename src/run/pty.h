/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's terminal, and the caller's one while it is in raw mode. */
#ifndef RUN_PTY_H
#define RUN_PTY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"

/*
 * Puts the caller's terminal (descriptor 0) into raw mode for a guest whose terminal has this
 * master (borrowed). It is set back by pty_restore, at exit,
 * when a fatal signal ends us, and while SIGTSTP has us stopped. At most one at a time.
 */
MUST_CHECK int pty_raw(int master, struct error *err);
void pty_restore(void);
/* True while raw: a line on the terminal then has to end in "\r\n". */
bool pty_is_raw(void);
/*
 * Takes a ^Z out of what was typed and remembers it, when the guest would have nothing to do with
 * it: its foreground is the first process itself, with no shell that could continue it. A ^C for
 * a terminal that has no foreground yet becomes our own SIGINT. A pump_filter.
 */
size_t pty_filter(unsigned char *data, size_t len);
/* True once after a ^Z was taken out. */
bool pty_take_suspend(void);
/* What SIGTSTP asks for: restore, stop this process, and go raw again when it is continued. */
void pty_suspend(void);

#endif
