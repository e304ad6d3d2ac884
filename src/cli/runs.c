/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs of `sandglass runs` share: see runs.h. */
#include "cli/runs.h"

#include "base/dir.h"
#include "base/mem.h"
#include "base/path.h"
#include "cli/cli.h"
#include "cli/session.h"
#include "config/paths.h"

/* STATE/ledger.db (caller frees); its directory is made when something will be put there. */
static int own_store(enum ledger_mode mode, char **ret, struct error *err)
{
	autofree char *dir = NULL;

	if (paths_find(PATHS_STATE, &dir, err) < 0)
		return -1;
	if (mode == LEDGER_MAKE && dir_make(dir, err) < 0)
		return -1;
	*ret = path_join(dir, "ledger.db");
	return 0;
}

int cli_runs_open(const struct cli_runs *options, enum ledger_mode mode, struct ledger **ret,
	struct error *err)
{
	uint64_t wait_ms = (options->wait_ns + 999999) / 1000000;
	autofree char *own = NULL;

	if (!options->store && own_store(mode, &own, err) < 0)
		return -1;
	return ledger_open(options->store ? options->store : own, mode,
		wait_ms > 3600000 ? 3600000 : (unsigned)wait_ms, ret, err);
}

int cli_runs_fail(const struct error *err)
{
	switch ((int)err->code) {
	case ERR_MISSING:
	case ERR_BUSY:
	case ERR_LIMIT:
	case ERR_FORMAT:
	case ERR_TAMPERED:
		return cli_fail(err, STATUS_NO);
	default:
		return cli_fail(err, STATUS_USAGE);
	}
}

static json_t *text_or_null(const char *text)
{
	return text ? json_str(text) : json_null();
}

json_t *cli_runs_json(const struct ledger_run *r)
{
	json_t *o = json_object();

	json_put(o, "at", text_or_null(r->at));
	json_put(o, "created", json_str(r->created));
	json_put(o, "goal", text_or_null(r->goal));
	json_put(o, "label", text_or_null(r->label));
	json_put(o, "last", json_u64(r->last));
	json_put(o, "parent", text_or_null(r->parent));
	json_put(o, "run", json_str(r->id));
	json_put(o, "shared", json_u64(r->shared));
	return o;
}
