/* SPDX-License-Identifier: Apache-2.0 */
/* A guest's scattered buffer: see giov.h. */
#include "supervise/engine/giov.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "supervise/engine/gmem.h"

static const uint64_t rw_max = 0x7ffff000; /* MAX_RW_COUNT */

void giov_finish(struct giov *v)
{
	free(v->many);
	*v = GIOV_NONE;
}

void giov_one(struct giov *ret, uint64_t addr, uint64_t len)
{
	if (len > rw_max)
		len = rw_max;
	*ret = (struct giov){.one = {(void *)(uintptr_t)addr, len}, .count = 1, .total = len};
}

int giov_read(struct giov *ret, struct task *t, uint64_t addr, uint64_t count)
{
	struct giov v = {.count = count};

	if (count > GIOV_MAX)
		return -EINVAL;
	if (count == 0) {
		*ret = v;
		return 0;
	}
	v.many = mem_array(count, sizeof(*v.many));
	if (gmem_read(t, addr, v.many, count * sizeof(*v.many)) < 0) {
		giov_finish(&v);
		return -EFAULT;
	}
	for (size_t i = 0; i < count; i++) {
		size_t len = v.many[i].iov_len;

		if (len > INT64_MAX) {
			giov_finish(&v);
			return -EINVAL;
		}
		if (len > rw_max - v.total)
			v.many[i].iov_len = len = rw_max - v.total;
		v.total += len;
	}
	*ret = v;
	return 0;
}

static const struct iovec *parts(const struct giov *v)
{
	return v->many ? v->many : &v->one;
}

/* The part that holds byte `offset`, and the offset within it. NULL past the end. */
static const struct iovec *find(const struct giov *v, uint64_t *offset)
{
	for (size_t i = 0; i < v->count; i++) {
		const struct iovec *part = &parts(v)[i];

		if (*offset < part->iov_len)
			return part;
		*offset -= part->iov_len;
	}
	return NULL;
}

uint64_t giov_address(const struct giov *v, uint64_t offset)
{
	const struct iovec *part = find(v, &offset);

	return part ? (uint64_t)(uintptr_t)part->iov_base + offset : 0;
}

uint64_t giov_run(const struct giov *v, uint64_t offset)
{
	const struct iovec *part = find(v, &offset);

	return part ? part->iov_len - offset : 0;
}

static ssize_t copy(const struct giov *v, struct task *t, uint64_t offset, char *out,
	const char *in, size_t len)
{
	size_t done = 0;

	while (done < len) {
		uint64_t within = offset + done;
		const struct iovec *part = find(v, &within);
		uint64_t addr;
		size_t n;
		int r;

		if (!part)
			break;
		addr = (uint64_t)(uintptr_t)part->iov_base + within;
		n = part->iov_len - within;
		if (n > len - done)
			n = len - done;
		r = out ? gmem_read(t, addr, out + done, n) : gmem_write(t, addr, in + done, n);
		if (r < 0)
			return done > 0 ? (ssize_t)done : r;
		done += n;
	}
	return (ssize_t)done;
}

ssize_t giov_get(const struct giov *v, struct task *t, uint64_t offset, void *ret_data, size_t len)
{
	return copy(v, t, offset, ret_data, NULL, len);
}

ssize_t giov_put(
	const struct giov *v, struct task *t, uint64_t offset, const void *data, size_t len)
{
	return copy(v, t, offset, NULL, data, len);
}
