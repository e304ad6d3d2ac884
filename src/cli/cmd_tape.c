/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass tape info and tape verify: what a tape is of, and whether it is whole. */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/store.h"
#include "cli/tape.h"
#include "tape/check.h"

struct values {
	bool json;
};

static const struct cli_option options[] = {{0}};

static const char *header_text(const json_t *header, const char *key)
{
	const char *text = json_string_value(json_object_get(header, key));

	return text ? text : "";
}

static json_t *info_json(const json_t *header, const struct tape_reader *r)
{
	json_t *o = json_object(), *contract = json_object_get(header, "contract");

	json_put(o, "version", json_u64(TAPE_VERSION));
	json_put(o, "bytes", json_u64(tape_size(r)));
	json_put(o, "whole", json_boolean(tape_is_whole(r)));
	json_put(o, "records", tape_is_whole(r) ? json_u64(tape_count(r)) : json_null());
	json_put(o, "digest", json_str(header_text(header, "digest")));
	json_put(o, "substrate", json_str(header_text(header, "substrate")));
	json_put(o, "contract", json_incref(contract));
	return o;
}

static int run_info(void *values, char **argv)
{
	const struct values *v = values;
	auto_tape_reader struct tape_reader *r = NULL;
	auto_json json_t *header = NULL;
	autofree char *command = NULL;
	struct error err;

	if (cli_tape_open(argv, &r, &header, &err) < 0)
		return cli_fail(&err, 2);
	if (v->json) {
		cli_print_json(info_json(header, r));
		return 0;
	}
	command = cli_tape_command(header);
	printf("command    %s\narch       %s\ncontract   %s\nrecorded   %s\nbytes      %" PRIu64
	       "\n",
		command, header_text(json_object_get(header, "contract"), "arch"),
		header_text(header, "digest"), header_text(header, "substrate"), tape_size(r));
	if (tape_is_whole(r))
		printf("records    %" PRIu64 "\n", tape_count(r));
	else
		printf("records    the tape has no end: 'sandglass tape verify' counts them\n");
	return 0;
}

const struct cli_command command_tape_info = {
	.name = "tape info",
	.arguments = "TAPE",
	.summary = "Say what a tape is of",
	.details =
		"Reads its two ends only: the command, its contract, how many records there are.\n",
	.options = options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run_info,
	.usage_status = 2,
};

static json_t *check_json(const struct tape_check *c)
{
	json_t *o = json_object(), *kinds = json_object();

	for (unsigned i = 0; i < ARRAY_LEN(c->by_kind); i++)
		if (c->by_kind[i])
			json_put(kinds, tape_kind_name(i), json_u64(c->by_kind[i]));
	json_put(o, "whole", json_boolean(!c->damage[0]));
	json_put(o, "records", json_u64(c->records));
	json_put(o, "payload_bytes", json_u64(c->payload_bytes));
	json_put(o, "first_ns", json_u64(c->first_ns));
	json_put(o, "last_ns", json_u64(c->last_ns));
	json_put(o, "kinds", kinds);
	json_put(o, "damage", c->damage[0] ? json_str(c->damage) : json_null());
	json_put(o, "damage_at", c->damage[0] ? json_u64(c->damage_at) : json_null());
	return o;
}

static int run_verify(void *values, char **argv)
{
	const struct values *v = values;
	auto_tape_reader struct tape_reader *r = NULL;
	auto_json json_t *header = NULL;
	struct tape_check c;
	struct error err;

	if (cli_tape_open(argv, &r, &header, &err) < 0 || tape_check(r, &c, &err) < 0)
		return cli_fail(&err, 2);
	if (v->json)
		cli_print_json(check_json(&c));
	else if (c.damage[0])
		printf("damaged at byte %" PRIu64 ", after record %" PRIu64 ": %s\n", c.damage_at,
			c.records, c.damage);
	else
		printf("whole: %" PRIu64 " records, %" PRIu64 " bytes\n", c.records, tape_size(r));
	return c.damage[0] ? 1 : 0;
}

const struct cli_command command_tape_verify = {
	.name = "tape verify",
	.arguments = "TAPE",
	.summary = "Read a tape from end to end and check every record",
	.details = "The status is 1 when it is cut or damaged somewhere; what comes before that is "
		   "good.\n",
	.options = options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run_verify,
	.usage_status = 2,
};
