/* SPDX-License-Identifier: Apache-2.0 */
/* A guest's scattered buffer: one address and length, or an iovec array in its memory. */
#ifndef SUPERVISE_GIOV_H
#define SUPERVISE_GIOV_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/attr.h"
#include "supervise/engine/task.h"

enum { GIOV_MAX = 1024 }; /* UIO_MAXIOV */

struct giov {
	struct iovec one;
	struct iovec *many; /* owned, or NULL: `one` */
	size_t count;
	uint64_t total;
};

#define GIOV_NONE ((struct giov){0})
void giov_finish(struct giov *v);
#define auto_giov CLEANUP(giov_finish)

void giov_one(struct giov *ret, uint64_t addr, uint64_t len);
/* 0 or a negative errno as the kernel would answer. */
MUST_CHECK int giov_read(struct giov *ret, struct task *t, uint64_t addr, uint64_t count);
/* The guest address of byte `offset`, 0 when it is past the end. */
uint64_t giov_address(const struct giov *v, uint64_t offset);
/* How many bytes from `offset` on lie behind each other there. */
uint64_t giov_run(const struct giov *v, uint64_t offset);
/* Copies up to len bytes from `offset` on out of (into) the guest: bytes copied, or -EFAULT when
 * not one could be. */
MUST_CHECK ssize_t giov_get(
	const struct giov *v, struct task *t, uint64_t offset, void *ret_data, size_t len);
MUST_CHECK ssize_t giov_put(
	const struct giov *v, struct task *t, uint64_t offset, const void *data, size_t len);

#endif
