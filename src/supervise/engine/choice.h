/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which task runs where another could as well: the rule of sched.h, unless the contract has a seed
 * or a list of forced switches.
 *
 * Every task counts its own scheduling points: the stop of each call, the birth of each child, its
 * own first instruction, and each time it gives way by itself. A switch is named by them, so that
 * leaving one switch out moves the others as little as can be.
 */
#ifndef SUPERVISE_CHOICE_H
#define SUPERVISE_CHOICE_H

#include <stdbool.h>

#include "supervise/engine/task.h"
#include "wire/contract.h"

void choice_init(const struct contract *c);
/* Another than the rule may decide. */
bool choice_is_on(void);
/* At a call's stop. True: others run first, and the handler only when t's turn comes. */
bool choice_before_call(struct task *t);
/* t made a child. */
void choice_at_birth(struct task *t);
/* Its call was answered; at_exit: at the exit stop already (inject.h). */
void choice_answered(struct task *t, bool at_exit);
/* What was planned for t is off: its call begins anew, or another program does. */
void choice_cancel(struct task *t);
/* How to resume t: a ptrace request. */
int choice_request(struct task *t);
/* A stop at the beginning or end of a call: true when it was only passed. */
bool choice_passed(struct task *t);
/* A stop by a signal: true when it was a step of ours. */
bool choice_stepped(struct task *t, int sig);
/* Who runs next of the queue that begins with head. */
struct task *choice_next(struct task *head);

#endif
