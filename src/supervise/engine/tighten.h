/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tighten on demand: from the stop in which a process first owns a mediated descriptor, its TIGHT
 * calls stop too.
 *
 * How it works: seccomp sees a descriptor's number and not what it is. A process has a bound
 * (process.tight): reads and writes of descriptors below it stop, those above are native. The bound
 * is 0 at first and only grows, since filters only add up. It stays above every mediated
 * descriptor: whatever makes one - pipe, socket, dup of one below the bound - comes here with its
 * number; where that is not known in time, or may come by other ways (accept, a message that passes
 * descriptors, a table shared by processes), the bound is TIGHT_ALL. The run's own output is never
 * waited for as long as it blocks, and is not counted.
 */
#ifndef SUPERVISE_TIGHTEN_H
#define SUPERVISE_TIGHTEN_H

#include "supervise/engine/task.h"

#define TIGHT_ALL UINT32_MAX

/*
 * At a seccomp stop of t (an enter handler, before it answers): injects the strict filter into t's
 * process (all threads) unless one as strict is in already. The stop stands as before afterwards.
 */
void tighten(struct task *t);
/* The same where all mediated descriptors that are new stay below `bound`. */
void tighten_below(struct task *t, uint32_t bound);

#endif
