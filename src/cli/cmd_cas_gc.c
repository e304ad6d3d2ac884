/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass cas gc: removes what nothing leads to. */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/store.h"
#include "run/options.h"

struct values {
	const char *store;
	struct run_list unroot;
	bool dry_run, json;
};

#define AT(field) offsetof(struct values, field)

static const struct cli_option options[] = {
	{"store", CLI_TEXT, "DIR", "the store; default: the user's own", AT(store)},
	{"unroot", CLI_LIST, "NAME", "first forget this root; may be repeated", AT(unroot)},
	{"dry-run", CLI_FLAG, NULL, "only tell what would go, and forget no root", AT(dry_run)},
	{0},
};

struct removed {
	json_t *json; /* NULL: as text */
};

static int tell_one(void *context, const struct cas_entry *e, struct error *err)
{
	const struct removed *r = context;

	(void)err;
	if (r->json)
		json_add(r->json, json_str(e->digest));
	else
		printf("%s\n", e->digest);
	return 0;
}

static int drop_roots(struct cas *c, const struct run_list *names, struct error *err)
{
	for (size_t i = 0; i < names->count; i++) {
		int dropped = cas_root_drop(c, names->items[i], err);

		if (dropped == 0)
			return error_set(err, ERR_MISSING, "no root '%s'", names->items[i]);
		if (dropped < 0)
			return -1;
	}
	return 0;
}

static int run(void *values, char **argv)
{
	const struct values *v = values;
	auto_cas struct cas *c = NULL;
	struct removed removed = {.json = v->json ? json_array() : NULL};
	auto_json json_t *list = removed.json;
	struct cas_gc gc = {.is_dry = v->dry_run, .removed = tell_one, .context = &removed};
	struct error err;

	if (argv[0]) {
		cli_say("cas gc takes no arguments");
		return 2;
	}
	if (cli_store_open(v->store, CAS_WRITE, &c, &err) < 0 ||
		(!v->dry_run && drop_roots(c, &v->unroot, &err) < 0) || cas_gc(c, &gc, &err) < 0)
		return cli_fail(&err, 2);
	if (v->json) {
		json_t *o = json_object();

		json_put(o, "removed", json_incref(list));
		json_put(o, "removed_bytes", json_u64(gc.removed_bytes));
		json_put(o, "kept", json_u64(gc.kept_objects));
		cli_print_json(o);
	} else {
		printf("%s %" PRIu64 " objects of %" PRIu64 " bytes, %s %" PRIu64 "\n",
			v->dry_run ? "would remove" : "removed", gc.removed_objects,
			gc.removed_bytes, v->dry_run ? "keep" : "kept", gc.kept_objects);
	}
	return 0;
}

const struct cli_command command_cas_gc = {
	.name = "cas gc",
	.arguments = "",
	.summary = "Remove the objects that no root leads to",
	.details =
		"What a living process is putting stays. Nothing is removed when a root cannot be "
		"followed.\n",
	.options = options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run,
	.usage_status = 2,
};
