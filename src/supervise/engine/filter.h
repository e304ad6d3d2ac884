/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seccomp programs of the guest, made from wire/syscalls.def. The base program goes in before
 * the first exec; the tightening program is added to it later (filters only ever add up).
 */
#ifndef SUPERVISE_FILTER_H
#define SUPERVISE_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* How our programs stop a call. The data tells such a stop from one that a guest's filter asks. */
#define FILTER_STOP (SECCOMP_RET_TRACE | FILTER_DATA)

enum {
	FILTER_DATA = 0x5347,
	FILTER_ROOM = 1024,	/* more than the base program ever needs */
	FILTER_TIGHT_ROOM = 64, /* it goes into the guest by way of a small page */
};

/*
 * The base program: foreign ABIs and refused calls fail in the kernel, allowed ones are native, the
 * rest (numbers that nobody decided among them) stop. TIGHT rows stop when strict, else are native.
 * Returns its length in instructions, or 0 when `room` is too small.
 */
MUST_CHECK size_t filter_build(bool strict, struct sock_filter *out, size_t room);
/*
 * The tightening program: TIGHT rows stop, everything else is left to the base. Of reads, writes
 * and duplications only those of a descriptor below `bound` stop. As filter_build.
 */
MUST_CHECK size_t filter_build_tight(uint32_t bound, struct sock_filter *out, size_t room);

#endif
