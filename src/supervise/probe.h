/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandglass-supervise --probe: what of this host only the supervisor can try, for `sandglass
 * doctor`. A line each on standard output: a check's name of src/doctor/checks.def, a tab, ok,
 * degraded or missing, a tab, what was found.
 */
#ifndef SUPERVISE_PROBE_H
#define SUPERVISE_PROBE_H

#include <stdbool.h>

/* Tries everything and prints it; returns the exit status, which is 0. */
int probe_main(void);

/* Of an architecture: reads the counter that a guest could tell the time by. */
void probe_read_counter(void);
/* Asks the CPU which one it is, if there is an instruction for that which can be made to fault. */
bool probe_identify_cpu(void);

#endif
