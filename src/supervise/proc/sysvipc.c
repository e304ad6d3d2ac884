/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/sysvipc: the kernel's own tables of the sandbox's ipc namespace, with the logical times of
 * the objects. Whether shared memory was swapped out is the host's affair.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervise/proc/make.h"
#include "supervise/sys/sysv.h"

/* The columns up to the times stay as they are: how many characters they have, or 0. */
static int head_of(const char *line, int columns)
{
	const char *at = line;

	for (int i = 0; i < columns; i++) {
		at += strspn(at, " ");
		at += strcspn(at, " ");
	}
	return *at ? (int)(at - line) : 0;
}

static int make(const struct procfs_who *who, enum sysv_kind kind, int columns, struct bytes *out)
{
	autofree char *text = NULL;
	char *rest, *line;
	bool first = true;

	if (procfs_native(who, &text) != 0)
		return -1;
	for (rest = text; (line = strsep(&rest, "\n")) != NULL;) {
		int head = first ? 0 : head_of(line, columns), id;
		const struct sysv_times *times;
		uint64_t rss = 0, swap = 0;

		if (first && *line)
			procfs_printf(out, "%s\n", line);
		first = false;
		if (!head || sscanf(line, "%*d %d", &id) != 1)
			continue;
		times = sysv_times_of(kind, id);
		procfs_printf(out, "%.*s %10" PRId64, head, line, times->first);
		if (kind != SYSV_SEM)
			procfs_printf(out, " %10" PRId64, times->second);
		procfs_printf(out, " %10" PRId64, times->change);
		if (kind == SYSV_SHM &&
			sscanf(line + head, "%*u %*u %*u %" SCNu64 " %" SCNu64, &rss, &swap) == 2)
			procfs_printf(out, " %21" PRIu64 " %21u", rss + swap, 0u);
		procfs_printf(out, "\n");
	}
	return 0;
}

int make_sysvipc_msg(const struct procfs_who *who, struct bytes *out)
{
	return make(who, SYSV_MSG, 11, out);
}

int make_sysvipc_sem(const struct procfs_who *who, struct bytes *out)
{
	return make(who, SYSV_SEM, 8, out);
}

int make_sysvipc_shm(const struct procfs_who *who, struct bytes *out)
{
	return make(who, SYSV_SHM, 11, out);
}
