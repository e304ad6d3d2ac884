/* SPDX-License-Identifier: Apache-2.0 */
/* A given directory as the root of the view, read-only. Allocates nothing. */
#ifndef LAUNCH_ROOTFS_H
#define LAUNCH_ROOTFS_H

#include "base/attr.h"
#include "base/error.h"
#include "launch/plan.h"

/*
 * Attaches the contract's root file system over "/", with our /proc, /dev, /sys and /tmp and the
 * fixed files in /etc, and with the places that the plan needs and it lacks. *ret_root is its
 * descriptor, owned by the caller.
 */
MUST_CHECK int rootfs_build(const struct plan *p, int *ret_root, struct error *err);

#endif
