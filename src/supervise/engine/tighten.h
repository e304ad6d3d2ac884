/* SPDX-License-Identifier: Apache-2.0 */
/* Tighten on demand: from the stop in which a process first owns a mediated descriptor, its TIGHT
 * calls stop too. */
#ifndef SUPERVISE_TIGHTEN_H
#define SUPERVISE_TIGHTEN_H

#include "supervise/engine/task.h"

/*
 * At a seccomp stop of t (an enter handler, before it answers): injects the strict filter into t's
 * process (all threads) unless it is in already. The stop stands as before afterwards.
 */
void tighten(struct task *t);

#endif
