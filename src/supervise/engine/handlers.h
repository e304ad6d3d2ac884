/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares every handler that wire/syscalls.def names: enter_X and leave_X. A family of calls is
 * one file sys_<family>.c. enter_native and leave_none are the handlers of rows that need none.
 */
#ifndef SUPERVISE_HANDLERS_H
#define SUPERVISE_HANDLERS_H

#include "supervise/engine/call.h"

#define SYSCALL(name, verdict, enter, leave, note) \
	call_enter_fn enter_##enter; \
	call_leave_fn leave_##leave;
#include "wire/syscalls.def"
#undef SYSCALL

#endif
