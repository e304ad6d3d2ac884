/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to sessions, in the audit log of the user: docs/format/audit. */
#ifndef SESSION_EVENT_H
#define SESSION_EVENT_H

#include "base/attr.h"
#include "base/error.h"
#include "session/place.h"

/* type: "session.create" or "session.destroy". Durable when it returns. */
MUST_CHECK int session_event(const struct session_store *s, const char *type,
	const struct session_record *r, struct error *err);

#endif
