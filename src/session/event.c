/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the audit log about sessions: see event.h. */
#include "session/event.h"

#include "audit/audit.h"
#include "base/mem.h"
#include "base/path.h"
#include "codec/json.h"

int session_event(const struct session_store *s, const char *type, const struct session_record *r,
	struct error *err)
{
	autofree char *state = path_dirname(s->dir);
	auto_json json_t *details = json_object();
	auto_audit struct audit *a = NULL;
	struct audit_event e = {
		.type = type, .resource_type = "session", .resource_id = r->id, .details = details};

	json_put(details, "backend", json_str(r->backend));
	json_put(details, "base", r->base[0] ? json_str(r->base) : json_null());
	json_put(details, "parent", r->parent[0] ? json_str(r->parent) : json_null());
	if (audit_open_state(state, NULL, NULL, AUDIT_APPEND, &a, err) < 0 ||
		audit_append(a, &e, NULL, err) < 0)
		return error_wrap(err, "audit log");
	return 0;
}
