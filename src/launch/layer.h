/* SPDX-License-Identifier: Apache-2.0 */
/* The private copy of a directory: an overlay where the kernel can, else a real copy. */
#ifndef LAUNCH_LAYER_H
#define LAUNCH_LAYER_H

#include "base/attr.h"
#include "base/error.h"
#include "launch/plan.h"

/*
 * In init: makes the copy of p->copy and attaches it over the directory `to`. Sends the written
 * layer over the link. Changes the cwd.
 */
MUST_CHECK int layer_attach(const struct plan *p, int to, int link, struct error *err);

#endif
