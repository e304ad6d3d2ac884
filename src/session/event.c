/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the audit log about sessions: see event.h. */
#include "session/event.h"

#include "audit/audit.h"
#include "base/mem.h"
#include "base/path.h"
#include "codec/json.h"
#include "config/settings.h"

static int open_log(const struct session_store *s, struct audit **ret, struct error *err)
{
	autofree char *state = path_dirname(s->dir);

	return audit_open_state(state, NULL, NULL, AUDIT_APPEND, ret, err);
}

static int append(struct audit *a, const char *type, const struct session_record *r,
	const json_t *details, struct error *err)
{
	struct audit_event e = {
		.type = type, .resource_type = "session", .resource_id = r->id, .details = details};

	return audit_append(a, &e, NULL, err);
}

static json_t *origin(const struct session_record *r)
{
	json_t *o = json_object();

	json_put(o, "backend", json_str(r->backend));
	json_put(o, "base", r->base[0] ? json_str(r->base) : json_null());
	json_put(o, "parent", r->parent[0] ? json_str(r->parent) : json_null());
	return o;
}

/* NULL in *ret when nothing is declared. Nobody checks it, and no sandbox of ours is left out for
 * it. */
static int declared(json_t **ret, struct error *err)
{
	autofree char *tier = NULL, *evidence = NULL;
	enum settings_layer layer = SETTINGS_DEFAULT;

	if (settings_find_layer("host_isolation_tier", &tier, &layer, err) < 0 ||
		settings_find("host_isolation_evidence", &evidence, err) < 0)
		return -1;
	if (layer == SETTINGS_DEFAULT)
		return 0;
	*ret = json_object();
	json_put(*ret, "dropped", json_false());
	json_put(*ret, "evidence", json_str(evidence ? evidence : ""));
	json_put(*ret, "source", json_str(settings_layer_name(layer)));
	json_put(*ret, "tier", json_str(tier));
	return 0;
}

int session_event_create(
	const struct session_store *s, const struct session_record *r, struct error *err)
{
	auto_json json_t *details = origin(r), *isolation = NULL;
	auto_audit struct audit *a = NULL;

	if (declared(&isolation, err) < 0)
		return -1;
	if (open_log(s, &a, err) < 0 || append(a, "session.create", r, details, err) < 0 ||
		(isolation && append(a, "sandbox.host_isolation_declared", r, isolation, err) < 0))
		return error_wrap(err, "audit log");
	return 0;
}

int session_event_destroy(
	const struct session_store *s, const struct session_record *r, struct error *err)
{
	auto_json json_t *details = origin(r);
	auto_audit struct audit *a = NULL;

	if (open_log(s, &a, err) < 0 || append(a, "session.destroy", r, details, err) < 0)
		return error_wrap(err, "audit log");
	return 0;
}
