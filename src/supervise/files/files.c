/* SPDX-License-Identifier: Apache-2.0 */
/* The file family as the loop and the clock know it: see files.h. */
#include "supervise/files/files.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "supervise/files/ftime.h"
#include "supervise/main.h"
#include "supervise/files/path.h"
#include "supervise/proc/served.h"

/*
 * When the container's set-up began to make files: the birth of the first of the file systems that
 * it makes. /dev is always on one; / and /tmp may be the host's, and /sys may be an old one.
 */
static int64_t setup_time(void)
{
	static const char *const made[] = {"/", "/dev", "/tmp"};
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < ARRAY_LEN(made); i++) {
		struct statfs fs;
		struct statx stx;
		int64_t ns = 0;

		if (statfs(made[i], &fs) != 0 || fs.f_type != TMPFS_MAGIC ||
			statx(AT_FDCWD, made[i], 0, STATX_BTIME, &stx) != 0 ||
			!(stx.stx_mask & STATX_BTIME))
			continue;
		ns = stx.stx_btime.tv_sec * 1000000000ll + stx.stx_btime.tv_nsec;
		first = ns < first ? ns : first;
	}
	return first;
}

void files_init(void)
{
	path_init();
	served_init();
	ftime_init(contract_get()->epoch_ns, setup_time());
}

void files_settle(void)
{
	ftime_settle();
}
