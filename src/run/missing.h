/* SPDX-License-Identifier: Apache-2.0 */
/* A program that the sandbox does not show, though the host has it. */
#ifndef RUN_MISSING_H
#define RUN_MISSING_H

#include "base/attr.h"
#include "wire/contract.h"

/*
 * What would show the program that this contract's command names, as a line for the user (caller
 * frees); NULL when the host does not have it either or it is in view. PATH is the caller's.
 */
char *missing_advice(const struct contract *c);

#endif
