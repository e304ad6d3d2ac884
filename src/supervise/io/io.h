/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that can block: what the scheduler needs of sys/rw.c, sys/poll.c and their kin. */
#ifndef SUPERVISE_IO_H
#define SUPERVISE_IO_H

#include <stdbool.h>

#include "supervise/io/fdkind.h"
#include "supervise/engine/task.h"

struct host_call;

/*
 * Remembers which objects lead outside (the run's own 0, 1, 2). Called once, before the guest
 * starts. Makes SIGPIPE harmless to the supervisor; exec puts the default back.
 */
void io_init(bool stdin_is_external, bool tty);
/*
 * Nothing in the sandbox can run and no timer is armed: waits in real time until something that a
 * parked task with park.external waits for is ready, or a host signal arrives. False when no parked
 * task waits for the outside.
 */
bool io_wait_external(void);

/*
 * t is about to take a signal. One of the run's own terminal that the guest handles is remembered,
 * and told by io_finish unless the run ended by it (as a shell does: 128 + signal): then the guest
 * went on from a point that nothing fixed.
 */
void io_signal_taken(struct task *t, int sig);
/* The first process is gone with this wait status. */
void io_finish(int status);

/* A write to one of the run's own streams: it waits until the host drains. */
bool io_is_write_to_host(struct task *t, const struct host_call *call);

/* Reads from this descriptor bring in something from outside the sandbox. */
bool io_is_external(const struct gfd *g);
/* There is a standard input that leads outside: the first process must be tight from the start. */
bool io_has_external(void);
/* One of the run's own output streams, which the host drains: a write never waits for a guest. */
bool io_is_own_output(const struct gfd *g);
/* The guest took input from outside, or (len 0) looked for it. Told, unless external.h lets it in.
 */
void io_external_read(struct task *t, int64_t len);

#endif
