/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's own process: signals from the host, delays that shake out luck, /proc of guests.
 */
#ifndef SUPERVISE_HOST_H
#define SUPERVISE_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Handlers for SIGUSR1 (a message) and SIGALRM (a tick); starts the ticks. */
void host_init(void);
/* True once after each. */
bool host_take_alarm(void);
bool host_take_message(void);
/* With a seed other than 0: now and then a short sleep of the supervisor (the guest must not see
 * it). */
void host_set_delays(uint32_t seed);
void host_delay(void);
/*
 * What a task used so far: clock ticks in user mode and in the kernel, CPU time exactly, calls that
 * read and write (UINT64_MAX: this kernel does not count them). False: gone.
 */
struct host_times {
	uint64_t user, system, cpu_ns, transfers;
};
bool host_task_times(pid_t tid, struct host_times *ret);
/* State letter of a task in /proc, or 'X' when it is gone. */
char host_task_state(pid_t tid);
/* The call that a task sleeps in: its number (-1: unknown) and the low halves of its arguments. */
struct host_call {
	int nr;
	unsigned arg[3];
};
/* Asleep at this moment; false also when it went on while we looked. */
bool host_task_sleeps(pid_t tid, struct host_call *ret);
/* Static text. */
const char *host_call_name(const struct host_call *call);
/* Pins the supervisor, and so every guest, to one CPU; -1: the first allowed one. */
void host_pin(int cpu);

#endif
