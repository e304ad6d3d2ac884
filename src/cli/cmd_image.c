/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass image verify, image remove and image gc. */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/store.h"
#include "image/image.h"

struct values {
	bool json, dry_run, unpacked;
};

#define AT(field) offsetof(struct values, field)

static const struct cli_option no_options[] = {{0}};
static const struct cli_option gc_options[] = {
	{"dry-run", CLI_FLAG, NULL, "only tell what would go", AT(dry_run)},
	{"unpacked", CLI_FLAG, NULL,
		"also the unpacked files of images that no run uses now; the next use unpacks "
		"again",
		AT(unpacked)},
	{0},
};

static int verify_one(struct images *s, const char *word, json_t *into, struct error *err)
{
	struct cas_progress progress = cli_progress("verifying");
	auto_image_ref struct image_ref ref = {0};
	auto_image struct image i = {.lock = -1};
	struct error why = {0};
	json_t *o = json_object();
	int r;

	if (image_ref_parse(word, &ref, err) < 0) {
		json_decref(o);
		return -1;
	}
	r = image_find(s, &ref, &i, &why);
	if (r == 0)
		r = image_verify(s, &i, &progress, &why);
	cli_progress_end();
	json_put(o, "image", json_str(word));
	json_put(o, "digest", i.digest[0] ? json_str(i.digest) : json_null());
	json_put(o, "intact", json_boolean(r == 0));
	json_put(o, "why", r == 0 ? json_null() : json_str(why.msg));
	json_add(into, o);
	if (r < 0)
		cli_say(why.msg);
	return r == 0						    ? 0
	       : why.code == ERR_TAMPERED || why.code == ERR_FORMAT ? 1
	       : why.code == ERR_MISSING			    ? 3
								    : 4;
}

static int run_verify(void *values, char **argv)
{
	const struct values *v = values;
	auto_images struct images *s = NULL;
	auto_json json_t *list = json_array();
	autofree char(*digests)[DIGEST_TEXT] = NULL;
	struct error err;
	size_t count = 0, n;
	int status = 0;
	json_t *one;

	if (images_open(CAS_WRITE, &s, &err) < 0 ||
		(!argv[0] && image_list(s, &digests, &count, &err) < 0))
		return cli_fail(&err, 2);
	for (n = 0; argv[0] ? argv[n] != NULL : n < count; n++) {
		int r = verify_one(s, argv[0] ? argv[n] : digests[n], list, &err);

		if (r < 0)
			return cli_fail(&err, 2);
		/* What was tampered with counts for more than what is not there. */
		if (r != 0 && (status == 0 || r < status))
			status = r;
	}
	if (v->json) {
		cli_print_json(json_incref(list));
		return status;
	}
	json_array_foreach(list, n, one) printf("%s %s\n",
		json_is_true(json_object_get(one, "intact")) ? "intact" : "broken",
		json_string_value(json_object_get(one, "image")));
	return status;
}

static int run_remove(void *values, char **argv)
{
	const struct values *v = values;
	auto_images struct images *s = NULL;
	auto_image_ref struct image_ref ref = {0};
	struct error err;
	bool is_gone;

	if (!argv[0] || argv[1]) {
		cli_say("image remove takes one reference");
		return 2;
	}
	if (image_ref_parse(argv[0], &ref, &err) < 0 || images_open(CAS_WRITE, &s, &err) < 0 ||
		image_remove(s, &ref, &is_gone, &err) < 0)
		return cli_fail(&err, err.code == ERR_MISSING || err.code == ERR_BUSY ? 1 : 2);
	if (v->json) {
		json_t *o = json_object();

		json_put(o, "removed", json_boolean(is_gone));
		cli_print_json(o);
	} else {
		printf("%s\n", is_gone ? "removed" : "only the name was removed");
	}
	return 0;
}

static int run_gc(void *values, char **argv)
{
	const struct values *v = values;
	struct image_gc gc = {.is_dry = v->dry_run, .all_roots = v->unpacked};
	auto_images struct images *s = NULL;
	struct error err;

	if (argv[0]) {
		cli_say("image gc takes no arguments");
		return 2;
	}
	if (images_open(CAS_WRITE, &s, &err) < 0 || image_gc(s, &gc, &err) < 0)
		return cli_fail(&err, 2);
	if (v->json) {
		json_t *o = json_object();

		json_put(o, "roots", json_u64(gc.roots));
		json_put(o, "objects", json_u64(gc.objects));
		json_put(o, "bytes", json_u64(gc.bytes));
		cli_print_json(o);
	} else {
		printf("%s %" PRIu64 " unpacked images and %" PRIu64 " objects of %" PRIu64
		       " bytes\n",
			v->dry_run ? "would remove" : "removed", gc.roots, gc.objects, gc.bytes);
	}
	return 0;
}

const struct cli_command command_image_verify = {
	.name = "image verify",
	.arguments = "[NAME[:TAG]|DIGEST...]",
	.summary = "Hash every part of container images, and compare what is unpacked",
	.details =
		"Without words: all there are. The layers are unpacked beside the unpacked files "
		"and compared with them; files\nthat differ are taken away, so that the next use "
		"unpacks them anew. The status is 1 when something is not what\nits digest says, "
		"3 when something is missing, 4 when it cannot be read.\n",
	.options = no_options,
	.size = sizeof(struct values),
	.json = AT(json),
	.interleaved = true,
	.run = run_verify,
	.usage_status = 2,
};

const struct cli_command command_image_remove = {
	.name = "image remove",
	.arguments = "NAME[:TAG]|DIGEST",
	.summary = "Forget a name of a container image, or the image",
	.details =
		"By a name: that name, and the image when it has no other. By a digest: the image "
		"with all its names. Its parts\ngo with the next sandglass image gc.\n",
	.options = no_options,
	.size = sizeof(struct values),
	.json = AT(json),
	.interleaved = true,
	.run = run_remove,
	.usage_status = 2,
};

const struct cli_command command_image_gc = {
	.name = "image gc",
	.arguments = "",
	.summary = "Remove what no container image needs",
	.details = "Unpacked files and parts of images that are gone, and with them all objects of "
		   "the "
		   "store that nothing\nleads to, as sandglass cas gc does.\n",
	.options = gc_options,
	.size = sizeof(struct values),
	.json = AT(json),
	.interleaved = true,
	.run = run_gc,
	.usage_status = 2,
};
