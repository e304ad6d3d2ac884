/* SPDX-License-Identifier: Apache-2.0 */
/* Tighten on demand: see tighten.h. The program is built by filter.c and passed through scratch
 * memory. */
#include "supervise/engine/tighten.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "supervise/engine/filter.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/inject.h"
#include "supervise/report.h"
#include "wire/sysnr.h"

/* struct sock_fprog as the guest's kernel reads it, followed by the program. */
struct image {
	uint16_t len;
	uint16_t pad[3];
	uint64_t filter;
	struct sock_filter program[FILTER_TIGHT_ROOM];
};

/* Each growth costs a filter, so that past the first few numbers they are large steps. */
enum { EXACT_TO = 16, SOME = 64 };

static uint32_t step_for(uint32_t bound)
{
	if (bound <= EXACT_TO)
		return bound;
	return bound <= SOME ? SOME : TIGHT_ALL;
}

void tighten_below(struct task *t, uint32_t bound)
{
	const uint64_t arg[6] = {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, ARCH_SCRATCH};
	struct image image = {.filter = ARCH_SCRATCH + offsetof(struct image, program)};
	int64_t r;

	if (t->proc->tight >= bound)
		return;
	bound = step_for(bound);
	image.len = (uint16_t)filter_build_tight(bound, image.program, FILTER_TIGHT_ROOM);
	if (!image.len)
		abort();
	t->proc->tight = bound;
	r = inject_page(t);
	if (r == 0)
		r = gmem_write(t, ARCH_SCRATCH, &image, sizeof(image));
	if (r == 0)
		r = inject(t, NR_seccomp, arg);
	/* Not told twice: the flag is set. A task killed meanwhile does not matter. */
	if (r != 0 && r != -ESRCH)
		report_not_enforced(
			REASON_GUEST_FILTER, "could not tighten the filter: error %d", (int)-r);
}

void tighten(struct task *t)
{
	tighten_below(t, TIGHT_ALL);
}
