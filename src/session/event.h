/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to sessions, in the audit log of the user: docs/format/audit. */
#ifndef SESSION_EVENT_H
#define SESSION_EVENT_H

#include "base/attr.h"
#include "base/error.h"
#include "session/place.h"

/*
 * Durable when they return. A creation also records what the user says that the host itself runs in
 * (config/settings, host_isolation_tier); an unknown tier is ERR_USAGE, and nothing is recorded.
 */
MUST_CHECK int session_event_create(
	const struct session_store *s, const struct session_record *r, struct error *err);
MUST_CHECK int session_event_destroy(
	const struct session_store *s, const struct session_record *r, struct error *err);

#endif
