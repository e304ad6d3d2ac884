/* SPDX-License-Identifier: Apache-2.0 */
/* /proc, /dev and /tmp of the view. Allocates nothing. */
#ifndef LAUNCH_PROC_H
#define LAUNCH_PROC_H

#include "base/attr.h"
#include "base/error.h"
#include "launch/plan.h"

/* A small detached tmpfs for the view's own directories and files. */
MUST_CHECK int proc_make_stage(int *ret_stage, struct error *err);
/*
 * Mounts a /proc of our pid namespace over root/proc, with what tells of the host masked by an
 * empty file and an empty directory. They are made in the stage, attached meanwhile, and removed.
 */
MUST_CHECK int proc_attach(int stage, int root, struct error *err);
/* Fills the directory dev of a writable tmpfs: devices, a pts of its own, shm. */
MUST_CHECK int proc_fill_dev(const struct plan *p, int dev, struct error *err);
/* A sized tmpfs for everybody over dir/name. */
MUST_CHECK int proc_attach_tmp(const struct plan *p, int dir, const char *name, struct error *err);

#endif
