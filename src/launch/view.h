/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file system that the guest sees, built by init in its own mount namespace and entered by
 * pivot_root, after which nothing of the host's tree is left in it.
 */
#ifndef LAUNCH_VIEW_H
#define LAUNCH_VIEW_H

#include "base/attr.h"
#include "base/error.h"
#include "launch/plan.h"

/*
 * Builds and enters the view; the cwd is then its root. `link` is the launcher's socket, over
 * which the written layer of the private copy goes (link.h). Allocates nothing.
 */
MUST_CHECK int view_enter(const struct plan *p, int link, struct error *err);

#endif
