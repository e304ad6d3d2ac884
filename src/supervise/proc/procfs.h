/* SPDX-License-Identifier: Apache-2.0 */
/* /proc and /sys as the guest sees them: which files we make, which pass as they are. */
#ifndef SUPERVISE_PROCFS_H
#define SUPERVISE_PROCFS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "supervise/engine/task.h"

enum procfs_verdict {
	PROCFS_SERVE,	/* procfs_make knows its content */
	PROCFS_PASS,	/* the same in every run as it is */
	PROCFS_REFUSED, /* procfs_refusal says with which error */
	PROCFS_LIVE,	/* the kernel's, and host state may be in it: reported when read */
};

/* It and all below it are not there for the guest. The path is canonical. */
bool procfs_is_absent(const char *path);
/* A directory of init, which nobody may list: the kernel lets user 0, who would see what the
 * supervisor has open and where it is mapped. */
bool procfs_is_closed(const char *directory);
/* What a canonical path (no links, /proc/PID rather than /proc/self) is. */
enum procfs_verdict procfs_check(const char *path);
/* The errno with which a PROCFS_REFUSED file is not opened. */
int procfs_refusal(const char *path);
/* The content of a PROCFS_SERVE file for the reader t. 0 or -1 with errno. */
MUST_CHECK int procfs_make(struct task *t, const char *path, struct bytes *ret_out);

#endif
