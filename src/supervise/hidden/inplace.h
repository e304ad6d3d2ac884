/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdtsc and cpuid of the dynamic loader, answered in place.
 *
 * Each would be a stop of 10 us, or an exit to the hypervisor, and a loader executes some dozens of
 * them before a program's first instruction. From the third program on that a loader starts, they
 * are jumps to stubs in our vDSO, which answer as the trap would: with the logical time, and with
 * what cpuid says on this CPU. Such reads of the counter are not counted as reads of the clock: a
 * loader makes a handful and goes on.
 *
 * A jump is longer than the instruction, so that those next to it move to the stub too. That is
 * right where nothing goes into their middle. It is taken for sure where .eh_frame describes the
 * function, all of it can be decoded, none of its branches, nothing anywhere in the file's code
 * that may be a branch or the making of an address, none of the tables that the function computes
 * addresses from, and no address in the file leads there. Everywhere else the instruction stays and
 * traps.
 */
#ifndef SUPERVISE_HIDDEN_INPLACE_H
#define SUPERVISE_HIDDEN_INPLACE_H

#include "supervise/engine/task.h"
#include "supervise/hidden/files.h"

/* A new program has this loader at `base`, and its vDSO at `vdso`: makes the stubs ready, which
 * vdso_patch then copies. */
void inplace_ready(struct hidden_file *loader, uint64_t base, uint64_t vdso);
/* They are there: lays the jumps into mm. */
void inplace_put(struct mm *mm, const struct hidden_file *loader);
void inplace_free(struct inplace *i);

#endif
