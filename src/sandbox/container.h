/* SPDX-License-Identifier: Apache-2.0 */
/* One program in a native container of its own, with a directory of the host as its workspace. */
#ifndef SANDBOX_CONTAINER_H
#define SANDBOX_CONTAINER_H

#include "base/attr.h"
#include "base/error.h"
#include "sandbox/sandbox.h"
#include "wire/contract.h"

/*
 * Runs it with `dir` (absolute; NULL: none) shown at the manifest's root, writable, and nothing
 * else of the host's that is not in the view of `sandglass run`. tree, unless it is -1, is a
 * detached mount to be shown instead of what is at that path. All of the container is gone on
 * return.
 */
MUST_CHECK int container_exec(const struct manifest *m, const char *dir, int tree, const char *cwd,
	const struct sandbox_exec *x, struct sandbox_result *ret, struct error *err);

/* Of a container whose caller is no backend: more than a manifest can say. */
struct container_more {
	/* All that it sees of the host besides that view; borrowed. */
	const struct contract_bind *binds;
	size_t bind_count;
	bool has_tree; /* `tree`, a detached mount, stands for the source of the first */
	int tree;
	uint64_t cpu_seconds, file_bytes, tmp_bytes; /* 0: the contract's own */
	uint64_t open_files;			     /* 0: the contract's own */
	/* What is touched counts alone, without RLIMIT_DATA, where a control group bounds that. */
	bool data_is_free;
	/* Called once it runs, for each limit that is weaker than asked; may be NULL. */
	void (*degraded)(void *arg, const char *detail);
	void *arg;
};
MUST_CHECK int container_exec_more(const struct manifest *m, const struct container_more *more,
	const char *cwd, const struct sandbox_exec *x, struct sandbox_result *ret,
	struct error *err);

#endif
