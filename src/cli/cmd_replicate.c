/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass replicate: a published claim computed again, and the numbers compared. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/evidence.h"
#include "cli/session.h"
#include "cli/signed.h"
#include "cli/store.h"
#include "replicate/record.h"
#include "replicate/replicate.h"
#include "run/place.h"

struct values {
	struct replicate_options o;
	bool sign, json;
};

#define AT(field) offsetof(struct values, field)

static const struct cli_option options[] = {
	{"code-dir", CLI_TEXT, "DIR", "the checkout: a clean one of exactly the manifest's commit",
		AT(o.code)},
	{"data-dir", CLI_TEXT, "DIR", "where the data sets are", AT(o.data)},
	{"out-dir", CLI_TEXT, "DIR", "an empty directory, for what the analysis writes", AT(o.out)},
	{"image", CLI_TEXT, "REF@DIGEST", "the image, pinned by its digest", AT(o.image)},
	{"rootfs", CLI_TEXT, "DIR", "native: this directory in the place of the image",
		AT(o.rootfs),
		"Nobody verifies that it is what the digest names, and the record says so."},
	{"host-programs", CLI_FLAG, NULL,
		"native: the host's own programs in the place of the image",
		AT(o.has_host_programs), "The record says so."},
	{"dry-run", CLI_FLAG, NULL, "check everything, print the command, run nothing",
		AT(o.is_dry)},
	{"job-id", CLI_TEXT, "ID", "a name for the record and the log", AT(o.job_id)},
	{"record", CLI_TEXT, "FILE", "write what was found, as JSON", AT(o.record)},
	{"sign", CLI_FLAG, NULL, "--record: signed, for 'receipt verify'", AT(sign)},
	{"log-file", CLI_TEXT, "FILE", "append what happens, a line of JSON each", AT(o.log)},
	{"runtime", CLI_TEXT, "native|docker|podman|nerdctl|runsc",
		"what to run it in; default: native", AT(o.runtime)},
	{"deterministic", CLI_FLAG, NULL, "native: with clock, randomness and order held",
		AT(o.is_deterministic)},
	{"repeat", CLI_NUMBER, "N", "run it so many times, and tell how far the numbers spread",
		AT(o.repeat)},
	{"allow-extra-data", CLI_FLAG, NULL, "other files may lie in the data directory",
		AT(o.allows_extra_data)},
	{0},
};

static struct cas_progress progress;

static void tell_progress(uint64_t bytes)
{
	if (progress.call)
		progress.call(progress.context, bytes);
}

static int fill(int fd, const void *arg, struct error *err)
{
	const struct bytes *text = arg;

	return fd_write_all(fd, text->data, text->len, err);
}

static int write_record(
	const struct values *v, const struct key *k, const json_t *record, struct error *err)
{
	struct bytes CLEANUP(bytes_finish) text = {0};

	if (k)
		return cli_signed_write(v->o.record, k, record, err);
	json_write_as(&text, record, JSON_JCS);
	bytes_put_u8(&text, '\n');
	if (strcmp(v->o.record, "-") == 0)
		return fill(STDOUT_FILENO, &text, err);
	return place_write(v->o.record, fill, &text, err) < 0
		       ? error_wrap(err, "--record '%.300s'", v->o.record)
		       : 0;
}

static int audit(const struct replication *r, struct error *err)
{
	json_t *details = json_object();

	json_put(details, "outcome", json_str(outcome_names[r->outcome]));
	json_put(details, "contract_digest",
		json_incref(json_object_get(r->record, "contract_digest")));
	return cli_audit_record("replication.signed", "claim",
		json_string_value(json_object_get(json_object_get(r->record, "claim"), "id")),
		details, err);
}

/* What is missing of the command line, or NULL. */
static const char *missing(const struct values *v)
{
	return !v->o.code		 ? "--code-dir"
	       : !v->o.data		 ? "--data-dir"
	       : !v->o.out		 ? "--out-dir"
	       : !v->o.image		 ? "--image"
	       : v->sign && !v->o.record ? "--record (for --sign)"
					 : NULL;
}

static void say_faults(const struct violations *f)
{
	for (size_t i = 0; i < f->count; i++)
		cli_say(f->items[i]);
	if (f->more)
		cli_say("... and more");
}

static void print(const struct values *v, const struct replication *r)
{
	if (!r->record)
		printf("%s\n", r->command);
	else if (v->json)
		cli_print_json(json_incref(r->record));
	else
		printf("%s: %s\n", outcome_names[r->outcome], r->reason);
}

static int run(void *values, char **words)
{
	struct values *v = values;
	auto_replication struct replication r = {0};
	auto_violations struct violations faults = {0};
	auto_key struct key *key = NULL;
	struct error err = {0};
	const char *lacks;

	if (!cli_words_are(words, 1, 1,
		    "replicate MANIFEST --code-dir DIR --data-dir DIR --out-dir DIR --image "
		    "REF@DIGEST"))
		return STATUS_USAGE;
	lacks = missing(v);
	if (lacks) {
		error_set(&err, ERR_USAGE, "%s is missing", lacks);
		return cli_fail(&err, STATUS_USAGE);
	}
	if (v->sign && cli_signing_key(&key, &err) < 0)
		return cli_fail(&err, STATUS_USAGE);
	v->o.manifest = words[0];
	v->o.version = SANDGLASS_VERSION;
	progress = cli_progress("data");
	v->o.progress = tell_progress;
	if (replicate(&v->o, &r, &faults, &err) < 0) {
		cli_progress_end();
		say_faults(&faults);
		return cli_fail(&err, STATUS_USAGE);
	}
	cli_progress_end();
	if (r.record && v->o.record && !v->o.is_dry &&
		(write_record(v, key, r.record, &err) < 0 || (key && audit(&r, &err) < 0)))
		return cli_fail(&err, STATUS_USAGE);
	print(v, &r);
	return r.record && r.outcome != OUTCOME_REPRODUCED ? STATUS_NO : 0;
}

const struct cli_command command_replicate = {
	.name = "replicate",
	.arguments = "MANIFEST",
	.summary = "Compute a published claim again, and compare",
	.details = "Nothing runs before code, data and image are those of the manifest, byte by "
		   "byte.\n"
		   "\n"
		   "Exit status: 0 reproduced; 1 any other outcome: not_reproduced, spec_issue (it "
		   "did not run as\n"
		   "specified), input_mismatch; 2 wrong usage, or the engine failed: then there is "
		   "no record.\n",
	.options = options,
	.size = sizeof(struct values),
	.json = AT(json),
	.interleaved = true,
	.run = run,
	.usage_status = STATUS_USAGE,
};
