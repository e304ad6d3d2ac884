/* SPDX-License-Identifier: Apache-2.0 */
/* A guest process has a new program: it gets a new address space with our stubs and our randomness.
 */
#ifndef SUPERVISE_EXEC_H
#define SUPERVISE_EXEC_H

#include "supervise/engine/task.h"

/* t stands at its exec event. */
void exec_done(struct task *t);

#endif
