/* SPDX-License-Identifier: Apache-2.0 */
/* States that loading can begin from, and the file without the log beside it. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "crypto/digest.h"
#include "ledger/inside.h"

int ledger_state_put(struct ledger *l, const char *run, uint64_t seq, const char *text, size_t len,
	struct error *err)
{
	auto_transaction struct db_transaction t = {0};
	auto_ledger_run struct ledger_run r = {0};
	char digest[DIGEST_TEXT];

	if (l->ops != &ledger_ours)
		return error_set(err, ERR_UNSUPPORTED,
			"an ActiveGraph store is compacted by its own program");
	if (ledger_run_get(l, run, &r, err) < 0)
		return -1;
	digest_of(text, len, digest);
	/* A state within the prefix is the parent's own. */
	if (seq <= r.shared)
		return 0;
	if (ledger_begin(l, &t, err) < 0 ||
		db_change(l->db, NULL, err,
			"INSERT OR REPLACE INTO snapshots (run, seq, digest, state) VALUES "
			"(?, ?, ?, ?)",
			"iitn", r.number, (int64_t)seq, digest, text, len) < 0)
		return -1;
	return ledger_end(l, &t, err);
}

/* The state that a row holds, when it is as it was written. */
static int take_state(struct db_rows *r, char **ret_text, struct error *err)
{
	const char *digest = db_text(r, 1), *text = db_text(r, 2);
	char own[DIGEST_TEXT];

	if (digest && text) {
		digest_of(text, db_text_len(r, 2), own);
		if (strcmp(own, digest) == 0) {
			*ret_text = mem_strdup(text);
			return 0;
		}
	}
	return error_set(err, ERR_FORMAT,
		"the state at event %" PRId64 " holds other bytes than its digest says: the ledger "
		"is damaged",
		db_int(r, 0));
}

int ledger_state_find(struct ledger *l, const char *run, uint64_t seq, char **ret_text,
	uint64_t *ret_seq, struct error *err)
{
	auto_ledger_run struct ledger_run r = {0};
	autofree struct ledger_segment *list = NULL;
	size_t count = 0;

	if (l->ops != &ledger_ours)
		return 0;
	if (ledger_run_get(l, run, &r, err) < 0 ||
		ledger_segments(l, r.number, seq, &list, &count, err) < 0)
		return -1;
	while (count-- > 0) {
		auto_rows struct db_rows *rows = NULL;
		int got;

		if (db_query(l->db, &rows, err,
			    "SELECT seq, digest, state FROM snapshots WHERE run = ? AND seq <= ? "
			    "ORDER BY seq DESC LIMIT 1",
			    "ii", list[count].run, (int64_t)list[count].last) < 0)
			return -1;
		got = db_next(rows, err);
		if (got < 0)
			return -1;
		if (got > 0) {
			*ret_seq = (uint64_t)db_int(rows, 0);
			return take_state(rows, ret_text, err) < 0 ? -1 : 1;
		}
	}
	return 0;
}

int ledger_blob_find(struct ledger *l, const char *hash, char **ret_text, struct error *err)
{
	auto_rows struct db_rows *r = NULL;
	char digest[DIGEST_TEXT];
	int got;

	if (db_query(l->db, &r, err, "SELECT blob FROM snapshots WHERE state_hash = ?", "t", hash) <
		0)
		return -1;
	got = db_next(r, err);
	if (got < 0)
		return -1;
	if (got == 0 || !db_text(r, 0))
		return error_set(err, ERR_MISSING, "the snapshot %.100s is missing", hash);
	digest_of(db_text(r, 0), db_text_len(r, 0), digest);
	if (strcmp(digest, hash) != 0)
		return error_set(err, ERR_TAMPERED, "the snapshot %.100s holds other bytes", hash);
	*ret_text = mem_strdup(db_text(r, 0));
	return 0;
}

int ledger_checkpoint(struct ledger *l, struct error *err)
{
	int64_t busy = 0;

	/* One row: busy, pages in the log, pages moved. */
	if (db_number(l->db, "PRAGMA wal_checkpoint(TRUNCATE)", &busy, err) < 0)
		return -1;
	return busy ? error_set(err, ERR_BUSY, "another process is using the ledger") : 0;
}
