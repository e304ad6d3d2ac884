/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places where a test stops, kills or fails us: one before each step that somebody else could see.
 * Without a watcher they do nothing.
 */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include "base/attr.h"

/* 0, or -1 with errno set when the step shall fail. step is a literal such as "cas: rename". */
MUST_CHECK int fault_point(const char *step);

/* Returns what fault_point shall return. */
typedef int fault_watcher(void *context, const char *step);
/* Of this process, and of those forked from it afterwards; NULL takes it away. */
void fault_watch(fault_watcher *watcher, void *context);

#endif
