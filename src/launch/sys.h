/* SPDX-License-Identifier: Apache-2.0 */
/* /sys of the view: the same small machine on every host. */
#ifndef LAUNCH_SYS_H
#define LAUNCH_SYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "wire/contract.h"

/* The texts of its files for this contract, as sys_fill wants them; sys_texts_free frees. */
char **sys_texts_new(const struct contract *c);
void sys_texts_free(char **texts);
/* Of every path and text: another tree has another one. */
uint64_t sys_hash(char *const *texts);
/* Fills the directory sys of a writable tmpfs. Allocates nothing. */
/* Not whole: the little that tells how many CPUs there are. A hundred files are a millisecond. */
MUST_CHECK int sys_fill(int sys, char *const *texts, bool whole, struct error *err);

#endif
