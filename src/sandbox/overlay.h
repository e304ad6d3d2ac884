/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories laid over each other (overlayfs) without a mount that anybody else sees: it is in a
 * mount namespace that lives as long as somebody works with it, and is gone when they are killed.
 */
#ifndef SANDBOX_OVERLAY_H
#define SANDBOX_OVERLAY_H

#include <stddef.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/error.h"

enum { OVERLAY_LAYERS_MAX = 24 }; /* an option of a mount has 256 bytes */

struct overlay_spec {
	const char *holders;	  /* a file that says who has it laid already */
	const char *const *lower; /* paths, the uppermost first; of one owner all, as is upper */
	size_t lower_count;
	const char *upper; /* path of a directory that has the directories `tree` and `work` */
};

/* {.tree = -1, .link = -1} is closed. */
struct overlay {
	int tree; /* a detached mount of it, to be opened from or attached once; owned */
	int link; /* its closing ends the process that holds the namespace */
	pid_t pid;
};

/*
 * Lays them, or joins those who have: there is never a second one over the same upper, so that all
 * see each other's changes at once. As root the files belong to the guest's id, as in a container.
 * ERR_UNSUPPORTED or a system error where this host or file system cannot.
 */
MUST_CHECK int overlay_open(
	const struct overlay_spec *spec, struct overlay *ret, struct error *err);
void overlay_close(struct overlay *o);
#define auto_overlay CLEANUP(overlay_close)

#endif
