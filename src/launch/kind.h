/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of containers: the native one of this folder, and those that a runtime makes. Who makes
 * one puts `struct launch` first in an object of its own; the functions of launch.h go through the
 * table, which has a row for each of them.
 */
#ifndef LAUNCH_KIND_H
#define LAUNCH_KIND_H

#include "launch/launch.h"

struct launch {
	const struct launch_kind *kind;
};

struct launch_kind {
	int (*terminal)(struct launch *l);
	int (*copy_fd)(const struct launch *l, bool *ret_is_overlay);
	int (*lost_fd)(const struct launch *l);
	const struct launch_degraded *(*degraded)(const struct launch *l, size_t *ret_count);
	bool (*needs_memory_watch)(const struct launch *l);
	int (*nudge)(struct launch *l, struct error *err);
	void (*kill)(struct launch *l);
	int (*wait)(struct launch *l, int *ret_status, struct error *err);
	bool (*was_oom)(const struct launch *l);
	void (*free)(struct launch *l);
};

#endif
