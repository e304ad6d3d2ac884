/* SPDX-License-Identifier: Apache-2.0 */
/* A tape to be replayed: see replay.h. */
#include "run/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/contract.h"
#include "run/json.h"
#include "run/programs.h"
#include "run/recorder.h"

void replay_finish(struct replay *r)
{
	tape_reader_free(r->reader);
	json_cleanup(&r->header);
	json_cleanup(&r->outcome);
	free(r->mismatch);
	run_image_finish(&r->image);
	*r = (struct replay){0};
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

int replay_header(const struct tape_reader *r, json_t **ret, struct error *err)
{
	auto_json json_t *o = NULL;
	size_t len;
	const char *text = tape_header(r, &len);

	if (json_read(text, len, TAPE_HEADER_MAX, &o, err) < 0)
		return error_wrap(err, "the tape's header");
	if (strcmp(text_of(o, "format"), "sandglass.tape/1") != 0 ||
		!json_is_object(json_object_get(o, "contract")))
		return error_set(err, ERR_FORMAT, "the tape's header is of another format");
	*ret = take_ptr(o);
	return 0;
}

int replay_outcome(struct tape_reader *r, json_t **ret, struct error *err)
{
	struct tape_record record;
	int got;

	*ret = NULL;
	if (!tape_is_whole(r) || !tape_count(r))
		return 0;
	got = tape_seek(r, tape_count(r), err);
	if (got > 0)
		got = tape_next(r, &record, err);
	if (got <= 0 || record.kind != TAPE_OUTCOME)
		return got < 0 ? -1 : 0;
	if (json_read((const char *)record.payload, record.len, TAPE_PAYLOAD_MAX, ret, err) < 0)
		return error_wrap(err, "the tape's outcome");
	return 0;
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int decode_launch(const json_t *header, struct contract *ret, struct error *err)
{
	const char *hex = text_of(json_object_get(header, "launch"), "hex");
	auto_conditions struct conditions ignored = {0};
	auto_bytes struct bytes b = {0};

	for (; hex[0] && hex[1]; hex += 2) {
		if (digit(hex[0]) < 0 || digit(hex[1]) < 0)
			return error_set(err, ERR_FORMAT, "the tape's launch is no hex");
		bytes_put_u8(&b, (uint8_t)(digit(hex[0]) << 4 | digit(hex[1])));
	}
	if (contract_decode(b.data, b.len, ret, &ignored, err) < 0)
		return error_wrap(err, "the tape's launch");
	return contract_check_made(ret, err) < 0 ? error_wrap(err, "the tape's launch") : 0;
}

/* What differs is an error, or kept to be told. */
static int differs(struct replay *r, bool override, const char *what, struct error *err)
{
	if (!override)
		return error_set(err, ERR_USAGE,
			"%s is not as it was recorded; --override replays all the same, and marks "
			"the run as not enforced",
			what);
	if (!r->mismatch)
		r->mismatch = mem_strdup(what);
	return 0;
}

/* Programs that the recording executed and that are here another's. */
static int check_programs(
	struct replay *r, const struct contract *c, bool override, struct error *err)
{
	struct programs CLEANUP(programs_finish) now = {0};
	json_t *list = json_object_get(r->outcome, "programs"), *one;
	size_t i;

	json_array_foreach(list, i, one) programs_add(&now, text_of(one, "path"));
	programs_digest(&now, c, -1);
	json_array_foreach(list, i, one)
	{
		const char *then = text_of(one, "sha256");
		autofree char *what = NULL;

		/* What the guest wrote and ran is not on the host. */
		if (!*then || i >= now.count || !now.items[i].sha256[0] ||
			strcmp(then, now.items[i].sha256) == 0)
			continue;
		what = str_format("the program '%.300s'", now.items[i].path);
		if (differs(r, override, what, err) < 0)
			return -1;
	}
	return 0;
}

static int check_contract(struct replay *r, const struct contract *c, const struct inputs *in,
	bool override, struct error *err)
{
	json_t *then = json_object_get(r->header, "contract"), *value;
	auto_json json_t *now = contract_json(c, in);
	const char *key;

	json_object_foreach(now, key, value)
	{
		autofree char *what = NULL;

		if (json_equal(value, json_object_get(then, key)))
			continue;
		what = str_format("'%s' of the contract", key);
		if (differs(r, override, what, err) < 0)
			return -1;
	}
	return 0;
}

/* Digests are taken again only where the recording took them. */
static int take_digests(
	const json_t *header, struct contract *c, struct inputs *in, struct error *err)
{
	json_t *contract = json_object_get(header, "contract");
	bool had = *text_of(json_object_get(contract, "cwd"), "digest") ||
		   *text_of(json_object_get(contract, "rootfs"), "digest");

	for (size_t i = 0; i < c->bind_count; i++)
		had = had || c->binds[i].digest[0];
	return had ? inputs_digest(c, in, err) : 0;
}

static int open_input(struct contract *c, struct stdin_source *in, struct error *err)
{
	*in = (struct stdin_source){.kind = c->stdin_kind, .file = -1, .spool = -1};
	if (c->stdin_kind != CONTRACT_STDIN_FILE)
		return 0;
	if (stdin_open(in, c, err) < 0)
		return -1;
	if (in->kind != CONTRACT_STDIN_FILE)
		return error_set(err, ERR_USAGE,
			"the recorded run had a regular file as its standard input: give the same "
			"one");
	return 0;
}

/* A runtime knows the digests of an image that its registries gave it, and that of its config; our
 * store, where it has the image, knows which belong together. */
static bool is_given(const struct oci_image *given, const char *digest)
{
	auto_image_ref struct image_ref ref = {0};
	auto_images struct images *s = NULL;
	auto_image struct image i = {.lock = -1};
	struct error ignored;

	if (oci_image_is(given, digest))
		return true;
	return image_ref_parse(digest, &ref, &ignored) == 0 &&
	       images_open(CAS_READ, &s, &ignored) == 0 && image_find(s, &ref, &i, &ignored) == 0 &&
	       oci_image_is(given, i.config_digest);
}

/* An image is found by its digest, wherever it is unpacked on this host. */
static int take_image(struct replay *r, struct contract *c, struct inputs *in, struct error *err)
{
	const json_t *rootfs = json_object_get(json_object_get(r->header, "contract"), "rootfs");

	if (strcmp(text_of(rootfs, "kind"), "image") != 0) {
		auto_contract struct contract d;

		/* A directory has no written layer, nor a user of its own. */
		contract_init(&d);
		if (c->rootfs && (c->copy_dir || c->uid != d.uid || c->gid != d.gid))
			return error_set(err, ERR_FORMAT,
				"no command line gives a run these directories or ids");
		return r->given ? error_set(err, ERR_USAGE, "the recorded run had no image") : 0;
	}
	if (!c->rootfs)
		return error_set(err, ERR_FORMAT, "the tape names an image and uses none");
	if (r->given && !is_given(r->given, text_of(rootfs, "digest")))
		return error_set(err, ERR_USAGE,
			"--image '%.150s' is not the image of the recording, %.100s", r->given->ref,
			text_of(rootfs, "digest"));
	if (r->given && c->copy_dir)
		return error_set(err, ERR_UNSUPPORTED,
			"the recorded run could write below '%.200s', and in a runtime's container "
			"nothing can; replay it natively",
			c->copy_dir);
	if (!r->given && run_image_open_digest(text_of(rootfs, "digest"), &r->image, err) < 0)
		return -1;
	/* One image has several digests: this is the one that the contract was made with. */
	snprintf(in->image, sizeof(in->image), "%s", text_of(rootfs, "digest"));
	free(c->rootfs);
	c->rootfs = mem_strdup(r->given ? RUN_IMAGE_ELSEWHERE : r->image.image.root);
	return 0;
}

int replay_open(struct replay *r, const struct run_options *o, struct contract *ret,
	struct inputs *ret_inputs, struct stdin_source *ret_in, struct error *err)
{
	auto_contract struct contract c = {0};
	char cpu[sizeof(c.cpu)] = "";

	if (tape_open(o->tape, &r->reader, err) < 0 ||
		replay_header(r->reader, &r->header, err) < 0 ||
		replay_outcome(r->reader, &r->outcome, err) < 0 ||
		decode_launch(r->header, &c, err) < 0)
		return error_wrap(err, "'%.200s'", o->tape);
	for (size_t i = 0; i < c.bind_count; i++)
		if (c.binds[i].writable && !o->override)
			return error_set(err, ERR_USAGE,
				"the recorded run shared '%.200s' with the host, and a replay "
				"would "
				"write there; --override replays all the same",
				c.binds[i].source);
	if (!c.deterministic)
		return error_set(err, ERR_FORMAT, "the tape is of a run without determinism");
	if (take_image(r, &c, ret_inputs, err) < 0 || inputs_cpu(cpu, err) < 0 ||
		open_input(&c, ret_in, err) < 0 || take_digests(r->header, &c, ret_inputs, err) < 0)
		return -1;
	memcpy(c.cpu, cpu, sizeof(cpu));
	if (check_contract(r, &c, ret_inputs, o->override, err) < 0 ||
		check_programs(r, &c, o->override, err) < 0)
		return -1;
	*ret = c;
	c = (struct contract){0};
	return 0;
}

char *replay_compare(
	const struct replay *r, const struct one_result *one, const struct decisions *d)
{
	static const char *const keys[] = {
		"code", "signal", "deadlock", "stdout", "stderr", "decisions"};
	auto_json json_t *now = NULL;

	if (!r->outcome)
		return NULL;
	now = recorder_outcome(one, d);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		json_t *a = json_object_get(r->outcome, keys[i]),
		       *b = json_object_get(now, keys[i]);

		if (!json_equal(a, b)) {
			autofree char *then = json_text(a), *is = json_text(b);

			return str_format("%s was %.100s, and is %.100s", keys[i], then, is);
		}
	}
	return NULL;
}
