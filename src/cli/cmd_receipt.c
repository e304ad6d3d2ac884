/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass receipt verify: whether a signed file says what it seems to say. */
#include <stdio.h>
#include <string.h>

#include "attest/receipt.h"
#include "attest/seal.h"
#include "attest/tried.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/evidence.h"
#include "cli/recompute.h"
#include "cli/session.h"
#include "cli/signed.h"
#include "cli/store.h"
#include "replicate/record.h"

struct values {
	struct cli_anchor anchor;
	struct recompute_inputs inputs;
	const char *store;
	bool recompute, json;
};

#define AT(field) offsetof(struct values, field)

static const struct cli_option options[] = {
	{"expected-keyid", CLI_TEXT, "ID",
		"the signing key's RFC 7638 thumbprint, or its SPKI digest", AT(anchor.keyid)},
	{"jwks", CLI_TEXT, "FILE", "a JSON Web Key Set that the signing key has to be in",
		AT(anchor.jwks)},
	{"store", CLI_TEXT, "DIR", "where objects are looked for; default: the user's own store",
		AT(store)},
	{"recompute", CLI_FLAG, NULL, "make the run again and compare what comes of it",
		AT(recompute),
		"It runs the receipt's command, whoever signed it, contained as 'run' contains "
		"any: it sees "
		"the receipt's directory and what you give, and has no limit of time. What the "
		"contract names by digest "
		"alone has to be given. Nothing of this has to be believed: the run counts only "
		"when "
		"its contract has the receipt's digest."},
	{"rootfs", CLI_TEXT, "DIR", "--recompute: the root file system that it had",
		AT(inputs.rootfs)},
	{"bind-ro", CLI_LIST, "SRC[:DST]", "--recompute: a bind that it had", AT(inputs.bind_ro)},
	{"bind", CLI_LIST, "SRC[:DST]", "--recompute: a writable bind that it had",
		AT(inputs.bind)},
	{"stdin", CLI_TEXT, "FILE", "--recompute: the file that was its standard input",
		AT(inputs.in)},
	{0},
};

static int check_run(
	const struct values *v, const json_t *statement, struct verdict *verdict, struct error *err)
{
	auto_cas struct cas *store = NULL;

	if (!receipt_check(statement, verdict))
		return 0;
	/* Without a store nothing of it is at hand. */
	if (cli_store_open(v->store, CAS_READ, &store, err) < 0 &&
		(v->store || err->code != ERR_MISSING))
		return -1;
	receipt_check_objects(statement, store, verdict);
	/* What is forged is not run. */
	if (!v->recompute || verdict->worst == VERDICT_FAILED)
		return 0;
	return cli_recompute(statement, &v->inputs, verdict, err);
}

/* What a statement of each kind is checked for. */
static int check_statement(
	const struct values *v, const json_t *statement, struct verdict *verdict, struct error *err)
{
	const char *format = json_string_value(json_object_get(statement, "format"));
	struct audit_head head;

	if (strcmp(format, RECEIPT_FORMAT) == 0)
		return check_run(v, statement, verdict, err);
	if (strcmp(format, SEAL_FORMAT) == 0)
		seal_parse(statement, &head, verdict);
	else if (strcmp(format, RECORD_FORMAT) == 0)
		record_check(statement, verdict);
	else if (strcmp(format, TRIED_FORMAT) == 0)
		tried_check(statement, verdict);
	else
		verdict_add(verdict, VERDICT_UNKNOWN_STATEMENT, "'%s'", format);
	return 0;
}

static int run_verify(void *values, char **argv)
{
	const struct values *v = values;
	struct verdict CLEANUP(verdict_finish) verdict;
	struct envelope CLEANUP(envelope_finish) e = {0};
	json_t *more;
	struct error err;

	verdict_init(&verdict);
	if (!cli_words_are(argv, 1, 1, "receipt verify FILE"))
		return 2;
	if (cli_signed_read(argv[0], &v->anchor, &e, &verdict, &err) < 0 ||
		(e.statement && check_statement(v, e.statement, &verdict, &err) < 0))
		return cli_fail(&err, 2);
	more = json_object();
	json_put(more, "keyid", e.keyid[0] ? json_str(e.keyid) : json_null());
	json_put(more, "statement_digest", e.digest[0] ? json_str(e.digest) : json_null());
	json_put(more, "statement",
		e.statement ? json_incref(json_object_get(e.statement, "format")) : json_null());
	return cli_verdict_tell(&verdict, argv[0], more, v->json);
}

const struct cli_command command_receipt_verify = {
	.name = "receipt verify",
	.arguments = "FILE",
	.summary = "Check a signed receipt, and what it names",
	.details =
		"Exit status: 0 verified; 1 failed, also when it is malformed; 2 wrong usage, or "
		"no "
		"such file;\n3 unanchored: nobody said which key to expect; 4 something is there "
		"and cannot be read;\n5 incomplete: something that it names is not here. Of "
		"several "
		"the worst counts: failed, unreadable,\nincomplete, unanchored.\n",
	.options = options,
	.size = sizeof(struct values),
	.json = AT(json),
	.interleaved = true,
	.run = run_verify,
	.usage_status = 2,
};
