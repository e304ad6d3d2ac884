/* SPDX-License-Identifier: Apache-2.0 */
/* Whether every page, row and reference of a ledger is as it was written. */
#include <inttypes.h>
#include <string.h>

#include "codec/raw.h"
#include "crypto/digest.h"
#include "ledger/row.h"

enum { PAGE_FAULTS = 100 };

int ledger_verify_pages(struct ledger *l, struct ledger_faults *f, struct error *err)
{
	auto_rows struct db_rows *r = NULL;
	struct error why = {0};
	int got;

	if (db_query(l->db, &r, err, "PRAGMA integrity_check(100)", "") < 0)
		return -1;
	_Static_assert(PAGE_FAULTS == 100, "the number in the PRAGMA");
	while ((got = db_next(r, &why)) > 0)
		if (strcmp(db_text(r, 0), "ok") != 0)
			ledger_fault(f, NULL, "%.400s", db_text(r, 0));
	if (got < 0 && why.code != ERR_FORMAT)
		return error_set(err, why.code, "%s", why.msg);
	if (got < 0)
		ledger_fault(f, NULL, "%s", why.msg);
	return 0;
}

struct verifying {
	struct ledger *ledger;
	struct ledger_faults *faults;
};

/* A run's own events; its prefix is its ancestors'. */
static int verify_events(struct verifying *v, const struct ledger_run *run, struct error *err)
{
	auto_ledger_cursor struct ledger_cursor *c = NULL;
	struct row_event before = {0};
	struct error why = {0};
	struct ledger_event e;
	struct raw payload;
	int got;

	if (run->shared && row_at(v->ledger, run->number, run->shared, &before, &why) < 0) {
		ledger_fault(v->faults, run->id, "%s", why.msg);
		return 0;
	}
	if (ledger_events(v->ledger, run->id, run->shared + 1, 0, &c, err) < 0)
		return -1;
	while ((got = row_next(c, &e, &why)) > 0) {
		if (e.time_ns < before.time_ns)
			ledger_fault(v->faults, run->id,
				"the time of %.100s is before that of the "
				"event before it",
				e.id);
		before.time_ns = e.time_ns;
		if (e.block && (e.block < e.seq || e.block > run->last))
			ledger_fault(v->faults, run->id, "the block of %.100s does not end", e.id);
		if (raw_check(e.payload, e.payload_len, RAW_STRICT, &payload, &why) < 0 ||
			raw_kind(payload) != '{')
			ledger_fault(v->faults, run->id, "the payload of %.100s is no JSON object",
				e.id);
	}
	if (got < 0)
		ledger_fault(v->faults, run->id, "%s", why.msg);
	return 0;
}

static int verify_run(void *context, const struct ledger_run *run, struct error *err)
{
	struct verifying *v = context;
	struct row_event at;
	struct error why = {0};

	/* A cut is the last event of a block, or of none. */
	if (run->shared && (row_at(v->ledger, run->number, run->shared, &at, &why) < 0 ||
				   (at.block && at.block != run->shared)))
		ledger_fault(v->faults, run->id, "it was cut where its parent may not be");
	return verify_events(v, run, err);
}

static int verify_states(struct ledger *l, struct ledger_faults *f, struct error *err)
{
	auto_rows struct db_rows *r = NULL;
	char digest[DIGEST_TEXT];
	int got;

	if (db_query(l->db, &r, err,
		    "SELECT r.run_id, s.seq, s.digest, s.state FROM snapshots s LEFT JOIN runs r "
		    "ON r.number = s.run ORDER BY s.run, s.seq",
		    "") < 0)
		return -1;
	while ((got = db_next(r, err)) > 0) {
		const char *text = db_text(r, 3), *named = db_text(r, 2);

		if (text)
			digest_of(text, db_text_len(r, 3), digest);
		if (!text || !named || strcmp(named, digest) != 0)
			ledger_fault(f, db_text(r, 0),
				"the state at event %" PRId64
				" holds other bytes than its digest says",
				db_int(r, 1));
	}
	return got;
}

int row_verify(struct ledger *l, struct ledger_faults *f, struct error *err)
{
	struct verifying v = {l, f};
	auto_rows struct db_rows *r = NULL;
	struct error why = {0};
	int got;

	if (ledger_verify_pages(l, f, err) < 0)
		return -1;
	if (f->count)
		return 0; /* what cannot be read whole tells nothing more */
	if (db_query(l->db, &r, err,
		    "SELECT DISTINCT run FROM events WHERE run NOT IN (SELECT number FROM runs)",
		    "") < 0)
		return -1;
	while ((got = db_next(r, err)) > 0)
		ledger_fault(f, NULL, "events of a run %" PRId64 " that has no row", db_int(r, 0));
	if (got < 0)
		return -1;
	got = ledger_run_each(l, verify_run, &v, &why);
	if (got < 0 && why.code != ERR_FORMAT)
		return error_set(err, why.code, "%s", why.msg);
	if (got < 0)
		ledger_fault(f, NULL, "%s", why.msg);
	return verify_states(l, f, err);
}
