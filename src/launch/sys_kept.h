/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /sys of the view, kept between two launches: its files are written once a boot and shown again
 * by a mount, since writing them costs as much as all other mounts together.
 */
#ifndef LAUNCH_SYS_KEPT_H
#define LAUNCH_SYS_KEPT_H

#include "base/attr.h"
#include "base/error.h"
#include "launch/idmap.h"
#include "wire/contract.h"

/* What sys_kept_find found; {.tree = -1} is nothing. */
struct sys_kept {
	char *path; /* NULL: there is none, and /sys is to be filled */
	int tree;   /* a detached mount of it made by a privileged launcher, or -1: init makes it */
};
void sys_kept_finish(struct sys_kept *k);

/*
 * The tree of these texts (of sys_texts_new) below the directory `state`, made now when it is not
 * there. Whatever is not as we would have made it, or fails, gives none.
 */
void sys_kept_find(const char *state, const struct contract *c, const struct idmap *ids,
	char *const *texts, struct sys_kept *ret);
/* As root: gives its files to the guest. mapping: a descriptor of init's user namespace. */
MUST_CHECK int sys_kept_map(const struct sys_kept *k, int mapping, struct error *err);
/* In init: attaches it over the directory `name` of root. Allocates nothing. */
MUST_CHECK int sys_kept_attach(
	const struct sys_kept *k, int root, const char *name, struct error *err);

#endif
