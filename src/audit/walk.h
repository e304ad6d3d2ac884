/* SPDX-License-Identifier: Apache-2.0 */
/* The walk of audit.h for who holds the lock already. */
#ifndef AUDIT_WALK_H
#define AUDIT_WALK_H

#include <stdbool.h>

#include "audit/inside.h"

MUST_CHECK int audit_walk_held(
	struct audit *a, struct audit_walk *w, bool is_locked, struct error *err);

#endif
