/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forced switches as text: TASK:POINT:NEXT is before the call of the task's scheduling point,
 * TASK:POINT+N:NEXT is N instructions after it. A list has commas between them.
 */
#ifndef RUN_SWITCHES_H
#define RUN_SWITCHES_H

#include "base/attr.h"
#include "base/error.h"
#include "wire/contract.h"

enum { SWITCH_TEXT = 72 };

/* Into the contract's list, sorted. */
MUST_CHECK int switches_parse(const char *text, struct contract *c, struct error *err);
/* By task and point, as a contract has them. */
void switches_sort(struct contract_switch *list, size_t count);
void switch_format(const struct contract_switch *s, char ret_text[SWITCH_TEXT]);
/* The whole list (caller frees). */
char *switches_text(const struct contract_switch *list, size_t count);

#endif
