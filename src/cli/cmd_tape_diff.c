/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass tape diff: where two tapes part. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/store.h"
#include "cli/tape.h"

enum { CONTEXT = 3 };

struct values {
	bool json;
};

static const struct cli_option options[] = {{0}};

struct side {
	struct tape_reader *r;
	json_t *header;
	struct tape_record record;
	int got;
};

static void side_finish(struct side *s)
{
	tape_reader_free(s->r);
	json_cleanup(&s->header);
}

static int side_next(struct side *s, struct error *err)
{
	s->got = tape_next(s->r, &s->record, err);
	return s->got;
}

static bool same(const struct side *a, const struct side *b)
{
	const struct tape_record *x = &a->record, *y = &b->record;

	if (a->got != b->got)
		return false;
	return a->got == 0 ||
	       (x->kind == y->kind && x->task == y->task && x->now_ns == y->now_ns &&
		       x->len == y->len && memcmp(x->payload, y->payload, x->len) == 0);
}

/* The member of the contracts that differs first, or NULL. */
static const char *contract_difference(const struct side *a, const struct side *b)
{
	json_t *x = json_object_get(a->header, "contract"),
	       *y = json_object_get(b->header, "contract"), *value;
	const char *key;

	json_object_foreach(
		x, key, value) if (!json_equal(value, json_object_get(y, key))) return key;
	return json_object_size(x) == json_object_size(y) ? NULL : "contract";
}

/* From a little before the difference to a little after it; the record that differs is marked. */
static int print_side(struct side *s, uint64_t at, const char *name, struct error *err)
{
	uint64_t from = at > CONTEXT ? at - CONTEXT : 1;
	int got = tape_seek(s->r, from, err);

	printf("%s\n", name);
	for (uint64_t i = from; got >= 0 && i <= at + CONTEXT; i++) {
		autofree char *line = NULL;

		got = got > 0 ? tape_next(s->r, &s->record, err) : 0;
		if (got <= 0) {
			printf("%c (the tape ends)\n", i == at ? '>' : ' ');
			break;
		}
		line = cli_tape_line(&s->record);
		printf("%c %s\n", i == at ? '>' : ' ', line);
	}
	return got < 0 ? -1 : 0;
}

static json_t *side_json(const struct side *s)
{
	return s->got > 0 ? cli_tape_json(&s->record) : json_null();
}

static int tell(
	const struct values *v, struct side sides[2], char **names, uint64_t at, struct error *err)
{
	const char *member = contract_difference(&sides[0], &sides[1]);
	bool differs = !same(&sides[0], &sides[1]);

	if (v->json) {
		json_t *o = json_object();

		json_put(o, "identical", json_boolean(!member && !differs));
		json_put(o, "contract", member ? json_str(member) : json_null());
		json_put(o, "ordinal", differs ? json_u64(at) : json_null());
		json_put(o, "first", differs ? side_json(&sides[0]) : json_null());
		json_put(o, "second", differs ? side_json(&sides[1]) : json_null());
		cli_print_json(o);
		return 0;
	}
	if (member)
		printf("the contracts differ in '%s'\n", member);
	if (!differs) {
		printf(member ? "the records are the same: %" PRIu64 "\n"
			      : "the tapes are the same: %" PRIu64 " records\n",
			at - 1);
		return 0;
	}
	printf("the tapes part at record %" PRIu64 "\n", at);
	for (int i = 0; i < 2; i++)
		if (print_side(&sides[i], at, names[i], err) < 0)
			return -1;
	return 0;
}

static int run(void *values, char **argv)
{
	struct side CLEANUP(side_finish) a = {0}, CLEANUP(side_finish) b = {0};
	struct error err;
	uint64_t at = 1;
	bool differs;

	if (!argv[0] || !argv[1] || argv[2]) {
		cli_say("tape diff takes two tapes");
		return 2;
	}
	if (cli_tape_open((char *[]){argv[0], NULL}, &a.r, &a.header, &err) < 0 ||
		cli_tape_open((char *[]){argv[1], NULL}, &b.r, &b.header, &err) < 0)
		return cli_fail(&err, 2);
	for (;; at++) {
		if (side_next(&a, &err) < 0 || side_next(&b, &err) < 0)
			return cli_fail(&err, 2);
		if (!same(&a, &b) || a.got == 0)
			break;
	}
	differs = !same(&a, &b) || contract_difference(&a, &b);
	struct side sides[2] = {a, b};

	if (tell(values, sides, argv, at, &err) < 0)
		return cli_fail(&err, 2);
	return differs;
}

const struct cli_command command_tape_diff = {
	.name = "tape diff",
	.arguments = "TAPE TAPE",
	.summary = "Say where two tapes part",
	.details =
		"Names what differs of the contracts, and the first record that differs, with "
		"three "
		"before and after it\n"
		"on both sides. The status is 0 when they are the same, and 1 when they are not.\n",
	.options = options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run,
	.usage_status = 2,
};
