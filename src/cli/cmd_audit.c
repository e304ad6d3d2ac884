/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass audit: the chain of what was done, appended to, shown, verified and sealed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "attest/seal.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/evidence.h"
#include "cli/session.h"
#include "cli/signed.h"
#include "cli/store.h"

struct values {
	const char *dir, *key;
	const char *type, *actor, *resource_type, *resource_id, *details;
	const char *seal, *keyid, *jwks, *out;
	uint64_t last;
	bool json;
};

#define AT(field) offsetof(struct values, field)
#define KEY_HELP "its key; default: SANDGLASS_AUDIT_KEY, or the user's own"

static const struct cli_option append_options[] = {
	{"dir", CLI_TEXT, "DIR", "the audit log; default: the user's own", AT(dir)},
	{"key", CLI_TEXT, "FILE", KEY_HELP, AT(key)},
	{"actor", CLI_TEXT, "NAME", "who did it; default: uid:N", AT(actor)},
	{"resource-type", CLI_TEXT, "KIND", "what it was done to", AT(resource_type)},
	{"resource-id", CLI_TEXT, "ID", "which one", AT(resource_id)},
	{"details", CLI_TEXT, "JSON", "an object with more, without fractions", AT(details)},
	{0},
};
static const struct cli_option show_options[] = {
	{"dir", CLI_TEXT, "DIR", "the audit log; default: the user's own", AT(dir)},
	{"key", CLI_TEXT, "FILE", KEY_HELP, AT(key)},
	{"last", CLI_NUMBER, "N", "the last N records alone", AT(last)},
	{0},
};
static const struct cli_option verify_options[] = {
	{"dir", CLI_TEXT, "DIR", "the audit log; default: the user's own", AT(dir)},
	{"key", CLI_TEXT, "FILE", KEY_HELP, AT(key)},
	{"seal", CLI_TEXT, "FILE", "the log has to lead through this seal of 'audit seal'",
		AT(seal)},
	{"expected-keyid", CLI_TEXT, "ID", "the key that the seal was signed with", AT(keyid)},
	{"jwks", CLI_TEXT, "FILE", "keys of which the seal was signed with one", AT(jwks)},
	{0},
};
static const struct cli_option seal_options[] = {
	{"dir", CLI_TEXT, "DIR", "the audit log; default: the user's own", AT(dir)},
	{"key", CLI_TEXT, "FILE", KEY_HELP, AT(key)},
	{"out", CLI_TEXT, "FILE", "write the seal there; default: standard output", AT(out)},
	{0},
};

static int run_append(void *values, char **argv)
{
	const struct values *v = values;
	auto_json json_t *details = NULL;
	auto_audit struct audit *a = NULL;
	char hmac[DIGEST_HEX];
	struct error err;
	struct audit_event e = {.type = argv[0],
		.actor = v->actor,
		.resource_type = v->resource_type ? v->resource_type : "",
		.resource_id = v->resource_id ? v->resource_id : ""};

	if (!cli_words_are(argv, 1, 1, "audit append TYPE"))
		return 2;
	if (v->details &&
		json_read(v->details, strlen(v->details), AUDIT_LINE_MAX, &details, &err) < 0) {
		error_fill_wrap(&err, "--details");
		return cli_fail(&err, 2);
	}
	if (details && !json_is_object(details)) {
		cli_say("--details has to be a JSON object, such as {\"ticket\":\"A-1\"}");
		return 2;
	}
	e.details = details;
	if (cli_audit_open(v->dir, v->key, AUDIT_APPEND, &a, &err) < 0 ||
		audit_append(a, &e, hmac, &err) < 0)
		return cli_fail(&err, err.code == ERR_TAMPERED ? 1 : 2);
	cli_print_one(v->json, "hmac", hmac);
	return 0;
}

/* No more faults than these are kept for --json; the others are counted. */
enum { FAULTS_MAX = 10000, UNANCHORED = 3 };

/* What the callbacks of a walk need. */
struct listing {
	const struct values *v;
	uint64_t first; /* number of the first record to show, from 0 */
	uint64_t seen;
	json_t *faults;
};

static int show_record(
	void *context, const char *file, uint64_t line, const json_t *record, struct error *err)
{
	struct listing *l = context;
	autofree char *details = NULL, *safe = NULL, *text = NULL;

	(void)file;
	(void)line;
	(void)err;
	if (l->seen++ < l->first)
		return 0;
	if (l->v->json) {
		cli_print_json(json_incref((json_t *)(uintptr_t)record));
		return 0;
	}
	details = json_text(json_object_get(record, "details"));
	text = str_format("%s %s %s %s/%s %s",
		json_string_value(json_object_get(record, "timestamp")),
		json_string_value(json_object_get(record, "actor")),
		json_string_value(json_object_get(record, "event_type")),
		json_string_value(json_object_get(record, "resource_type")),
		json_string_value(json_object_get(record, "resource_id")), details);
	safe = str_printable(text, strlen(text), AUDIT_LINE_MAX);
	printf("%s\n", safe);
	return 0;
}

static int tell_fault(void *context, const struct audit_fault *f, struct error *err)
{
	struct listing *l = context;
	json_t *o;

	(void)err;
	if (!l->faults) {
		if (f->file && f->line)
			printf("%s:%" PRIu64 ": byte %" PRIu64 ": %s: %s\n", f->file, f->line,
				f->byte, f->code, f->detail);
		else
			printf("%s: %s: %s\n", f->file ? f->file : "audit log", f->code, f->detail);
		return 0;
	}
	if (json_array_size(l->faults) >= FAULTS_MAX)
		return 0;
	o = json_object();
	json_put(o, "byte", f->line ? json_u64(f->byte) : json_null());
	json_put(o, "code", json_str(f->code));
	json_put(o, "detail", json_str(f->detail));
	json_put(o, "file", f->file ? json_str(f->file) : json_null());
	json_put(o, "line", f->line ? json_u64(f->line) : json_null());
	json_add(l->faults, o);
	return 0;
}

static int say_fault(void *context, const struct audit_fault *f, struct error *err)
{
	autofree char *line = str_format("%s line %" PRIu64 ": %s (%s)",
		f->file ? f->file : "audit log", f->line, f->detail, f->code);

	(void)context;
	(void)err;
	cli_say(line);
	return 0;
}

static int run_show(void *values, char **argv)
{
	const struct values *v = values;
	struct listing l = {.v = v};
	struct audit_walk w = {.fault = say_fault, .record = show_record, .context = &l};
	auto_audit struct audit *a = NULL;
	struct audit_head head = {0};
	struct error err;
	int found;

	if (!cli_words_are(argv, 0, 0, "audit show"))
		return 2;
	if (cli_audit_open(v->dir, v->key, AUDIT_READ, &a, &err) < 0)
		return cli_fail(&err, 2);
	found = audit_head_find(a, &head, &err);
	if (found == 1 && v->last && head.count > v->last)
		l.first = head.count - v->last;
	if (audit_walk(a, &w, &err) < 0)
		return cli_fail(&err, 2);
	return w.faults ? 1 : 0;
}

/* The seal that the chain has to lead through: 0, or the status to end with at once. */
static int read_seal(const struct values *v, struct audit_head *ret, bool *ret_anchored)
{
	struct verdict CLEANUP(verdict_finish) verdict;
	struct envelope CLEANUP(envelope_finish) e = {0};
	struct cli_anchor anchor = {v->keyid, v->jwks};
	struct error err;

	verdict_init(&verdict);
	if (cli_signed_read(v->seal, &anchor, &e, &verdict, &err) < 0)
		return cli_fail(&err, 2);
	if (!e.statement || !seal_parse(e.statement, ret, &verdict) ||
		verdict.worst >= VERDICT_UNREADABLE)
		return cli_verdict_tell(&verdict, v->seal, NULL, v->json);
	*ret_anchored = verdict.worst != VERDICT_UNANCHORED;
	if (!*ret_anchored)
		cli_say("--seal: nobody said whose key it should be signed with: "
			"--expected-keyid or --jwks");
	return 0;
}

static int run_verify(void *values, char **argv)
{
	const struct values *v = values;
	auto_json json_t *faults = v->json ? json_array() : NULL;
	struct listing l = {.v = v, .faults = faults};
	struct audit_walk w = {.fault = tell_fault, .context = &l};
	auto_audit struct audit *a = NULL;
	struct audit_head seal;
	struct error err;
	bool anchored = true;
	int status = 0;

	if (!cli_words_are(argv, 0, 0, "audit verify"))
		return 2;
	if (v->seal) {
		status = read_seal(v, &seal, &anchored);
		w.seal = &seal;
	}
	if (status)
		return status;
	if (cli_audit_open(v->dir, v->key, AUDIT_READ, &a, &err) < 0 || audit_walk(a, &w, &err) < 0)
		return cli_fail(&err, 2);
	if (v->json) {
		json_t *o = json_object();

		json_put(o, "anchored", v->seal ? json_boolean(anchored) : json_null());
		json_put(o, "fault_count", json_u64(w.faults));
		json_put(o, "faults", json_incref(faults));
		json_put(o, "files", json_u64(w.files));
		json_put(o, "head", json_str(w.end.hmac));
		json_put(o, "intact", json_boolean(w.faults == 0));
		json_put(o, "records", json_u64(w.lines));
		cli_print_json(o);
	} else {
		printf("%" PRIu64 " records in %" PRIu64 " files: %s\n", w.lines, w.files,
			w.faults ? "NOT intact" : "intact");
	}
	return w.faults ? 1 : anchored ? 0 : UNANCHORED;
}

static int run_seal(void *values, char **argv)
{
	const struct values *v = values;
	auto_audit struct audit *a = NULL;
	auto_key struct key *k = NULL;
	auto_json json_t *statement = NULL;
	struct audit_walk w = {.fault = say_fault};
	struct error err;

	if (!cli_words_are(argv, 0, 0, "audit seal"))
		return 2;
	if (cli_signing_key(&k, &err) < 0 ||
		cli_audit_open(v->dir, v->key, AUDIT_READ, &a, &err) < 0 ||
		audit_walk(a, &w, &err) < 0)
		return cli_fail(&err, 2);
	if (w.faults) {
		cli_say("the audit log is not intact, so it is not sealed");
		return 1;
	}
	if (w.lines == 0) {
		cli_say("the audit log is empty: there is nothing to seal");
		return 2;
	}
	statement = seal_statement(&w.end);
	if (cli_signed_write(v->out ? v->out : "-", k, statement, &err) < 0)
		return cli_fail(&err, 2);
	return 0;
}

#define COMMAND(verb, words, about, more) \
	const struct cli_command command_audit_##verb = {.name = "audit " #verb, \
		.arguments = words, \
		.summary = about, \
		.details = more, \
		.options = verb##_options, \
		.size = sizeof(struct values), \
		.json = AT(json), \
		.interleaved = true, \
		.run = run_##verb, \
		.usage_status = 2}

COMMAND(append, "TYPE", "Add a record to the audit log",
	"It is durable when the command ends; its HMAC is printed. The status is 1 when the log "
	"does\nnot end where its head says; what was changed before that 'audit verify' finds.\n");
COMMAND(show, "", "Print the records of the audit log",
	"With --json a line is a record. Whatever is wrong is said; the status is 1 then.\n");
COMMAND(verify, "", "Check every record of the audit log",
	"Names file, line and first bad byte of all that is wrong. A seal that was kept elsewhere "
	"also shows\nthat the log was put back to an older state.\n\nExit status: 0 intact; 1 "
	"not intact; 2 wrong usage, no log or no key; 3 intact, and nobody said\nwhich key the "
	"seal was signed with.\n");
COMMAND(seal, "", "Sign how far the audit log goes",
	"The log is verified first. Keep the seal where the log is not.\n");
