/* SPDX-License-Identifier: Apache-2.0 */
/* Guest memory, read and written by the supervisor while the task is stopped. */
#ifndef SUPERVISE_GMEM_H
#define SUPERVISE_GMEM_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "supervise/engine/task.h"

/* All of it: 0, or -EFAULT as the kernel would answer. */
MUST_CHECK int gmem_read(struct task *t, uint64_t addr, void *ret_data, size_t len);
MUST_CHECK int gmem_write(struct task *t, uint64_t addr, const void *data, size_t len);
/* As much as is mapped: bytes read, or -EFAULT when not one is. */
MUST_CHECK ssize_t gmem_read_some(struct task *t, uint64_t addr, void *ret_data, size_t len);
/* A NUL-terminated string of at most size - 1 bytes: its length, -EFAULT or -ENAMETOOLONG. */
MUST_CHECK ssize_t gmem_read_string(struct task *t, uint64_t addr, char *ret_text, size_t size);
/* Over read-only pages too (the vDSO): through /proc/PID/mem. 0 or -1 with errno. */
MUST_CHECK int gmem_poke(struct mm *mm, uint64_t addr, const void *data, size_t len);

#endif
