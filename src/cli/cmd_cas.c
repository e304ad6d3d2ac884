/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass cas list and cas verify: what is in the store, and whether it is what it should be. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/store.h"

struct values {
	const char *store;
	bool json;
};

static const struct cli_option options[] = {
	{"store", CLI_TEXT, "DIR", "the store; default: the user's own",
		offsetof(struct values, store)},
	{0},
};

/* The roots of a store, to be found by digest. */
struct roots {
	struct cas_root *list;
	size_t count;
};

static json_t *roots_of(const struct roots *r, const char *digest)
{
	json_t *names = json_array();

	for (size_t i = 0; i < r->count; i++)
		if (strcmp(r->list[i].digest, digest) == 0)
			json_add(names, json_str(r->list[i].name));
	return names;
}

struct listing {
	struct roots roots;
	json_t *json; /* NULL: as text */
};

static int list_one(void *context, const struct cas_entry *e, struct error *err)
{
	const struct listing *l = context;
	auto_json json_t *names = roots_of(&l->roots, e->digest);
	json_t *o;
	size_t i;
	json_t *name;

	(void)err;
	if (!l->json) {
		printf("%s %12" PRIu64 "  %s", e->digest, e->size, e->content_type);
		json_array_foreach(names, i, name)
			printf("%s%s", i ? "," : "  ", json_string_value(name));
		putchar('\n');
		return 0;
	}
	o = json_object();
	json_put(o, "digest", json_str(e->digest));
	json_put(o, "size", json_u64(e->size));
	json_put(o, "stored", json_u64(e->stored));
	json_put(o, "created", json_u64(e->created_s));
	json_put(o, "content_type", json_str(e->content_type));
	json_put(o, "roots", json_incref(names));
	json_add(l->json, o);
	return 0;
}

static int run_list(void *values, char **argv)
{
	const struct values *v = values;
	auto_json json_t *json = v->json ? json_array() : NULL;
	auto_cas struct cas *c = NULL;
	autofree struct cas_root *roots = NULL;
	struct listing l = {.json = json};
	struct error err;

	if (argv[0]) {
		cli_say("cas list takes no arguments");
		return 2;
	}
	if (cli_store_open(v->store, CAS_READ, &c, &err) < 0 ||
		cas_roots(c, &roots, &l.roots.count, &err) < 0)
		return cli_fail(&err, 2);
	l.roots.list = roots;
	if (cas_list(c, list_one, &l, &err) < 0)
		return cli_fail(&err, 2);
	if (json)
		cli_print_json(json_incref(json));
	return 0;
}

const struct cli_command command_cas_list = {
	.name = "cas list",
	.arguments = "",
	.summary = "List the objects of the store",
	.details = "A line is the digest, the size, what the writer said it is, and the roots that "
		   "name it.\n",
	.options = options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run_list,
	.usage_status = 2,
};

/* How many of each, and which ones were not intact. */
struct verdicts {
	struct cas *c;
	struct cas_progress progress;
	size_t counts[CAS_STATES];
	json_t *json[CAS_STATES];
	bool as_json;
};

static int verify_one(void *context, const struct cas_entry *e, struct error *err)
{
	struct verdicts *v = context;
	struct error why = {0};
	enum cas_state state = cas_verify(v->c, e->digest, &v->progress, &why);

	(void)err;
	v->counts[state]++;
	cli_progress_end();
	if (state == CAS_INTACT)
		return 0;
	json_add(v->json[state], json_str(e->digest));
	if (!v->as_json)
		printf("%s %s\n", cas_state_names[state], e->digest);
	cli_say(why.msg);
	return 0;
}

/* What roots name has to be there too. */
static int verify_roots(struct verdicts *v, struct error *err)
{
	autofree struct cas_root *roots = NULL;
	size_t count;

	if (cas_roots(v->c, &roots, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct cas_entry e = {0};
		int there = cas_hold(v->c, roots[i].digest, err);

		memcpy(e.digest, roots[i].digest, sizeof(e.digest));
		if (there == 0 && verify_one(v, &e, err) < 0)
			return -1;
	}
	return 0;
}

static int verify_words(struct verdicts *v, char **words, struct error *err)
{
	for (; *words; words++) {
		struct cas_entry e = {0};

		if (cli_store_find(v->c, *words, e.digest, err) < 0 || verify_one(v, &e, err) < 0)
			return -1;
	}
	return 0;
}

static int tell(struct verdicts *v)
{
	/* The worst there is. */
	static const struct {
		enum cas_state state;
		int status;
	} order[] = {{CAS_TAMPERED, 1}, {CAS_UNREADABLE, 4}, {CAS_ABSENT, 3}};
	json_t *o = v->as_json ? json_object() : NULL;

	for (int i = 0; v->as_json && i < CAS_STATES; i++)
		json_put(o, cas_state_names[i],
			i == CAS_INTACT ? json_u64(v->counts[i]) : json_incref(v->json[i]));
	if (v->as_json)
		cli_print_json(o);
	else
		printf("%zu intact, %zu tampered, %zu absent, %zu unreadable\n",
			v->counts[CAS_INTACT], v->counts[CAS_TAMPERED], v->counts[CAS_ABSENT],
			v->counts[CAS_UNREADABLE]);
	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		if (v->counts[order[i].state])
			return order[i].status;
	return 0;
}

static int run_verify(void *values, char **argv)
{
	const struct values *v = values;
	struct verdicts verdicts = {.as_json = v->json, .progress = cli_progress("verifying")};
	auto_cas struct cas *c = NULL;
	struct error err;
	int r;

	if (cli_store_open(v->store, CAS_READ, &c, &err) < 0)
		return cli_fail(&err, 2);
	verdicts.c = c;
	for (int i = 0; i < CAS_STATES; i++)
		verdicts.json[i] = json_array();
	if (argv[0])
		r = verify_words(&verdicts, argv, &err);
	else
		r = cas_list(c, verify_one, &verdicts, &err) < 0 ? -1
								 : verify_roots(&verdicts, &err);
	r = r < 0 ? cli_fail(&err, 2) : tell(&verdicts);
	for (int i = 0; i < CAS_STATES; i++)
		json_decref(verdicts.json[i]);
	return r;
}

const struct cli_command command_cas_verify = {
	.name = "cas verify",
	.arguments = "[DIGEST|ROOT...]",
	.summary = "Read objects and compare them with their digests",
	.details =
		"Without words: all there are. The status is 1 when one was tampered with, 4 when "
		"one is there\nand cannot be read, 3 when one is absent, else 0.\n",
	.options = options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run_verify,
	.usage_status = 2,
};
