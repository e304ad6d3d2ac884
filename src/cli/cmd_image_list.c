/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass image list and image show: which images are here, and what one says. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/store.h"
#include "image/image.h"

struct values {
	bool json;
};

static const struct cli_option no_options[] = {{0}};

static uint64_t size_of(const struct image *i)
{
	uint64_t size = i->manifest.config.size;

	for (size_t n = 0; n < i->manifest.layer_count; n++)
		size += i->manifest.layers[n].size;
	return size;
}

static json_t *names_of(const struct image_names *names, const char *digest)
{
	json_t *list = json_array();

	for (size_t n = 0; n < names->count; n++)
		if (strcmp(names->items[n].digest, digest) == 0)
			json_add(list, json_str(names->items[n].name));
	return list;
}

static void print_line(const json_t *o)
{
	json_t *names = json_object_get(o, "names"), *name;
	size_t n;

	printf("%s %12" JSON_INTEGER_FORMAT "  %s", json_string_value(json_object_get(o, "digest")),
		json_integer_value(json_object_get(o, "size")),
		json_is_true(json_object_get(o, "unpacked")) ? "unpacked" : "packed  ");
	json_array_foreach(names, n, name) printf("%s%s", n ? "," : "  ", json_string_value(name));
	putchar('\n');
}

static int list_one(struct images *s, const struct image_names *names, const char *digest,
	json_t *into, struct error *err)
{
	auto_json json_t *o = json_object();
	auto_image struct image i = {.lock = -1};
	struct error why = {0};
	int found = image_load(s, digest, &i, &why);

	if (found == 0)
		return 0;
	if (found < 0) {
		cli_say(why.msg);
		*err = why;
	}
	json_put(o, "digest", json_str(digest));
	json_put(o, "names", names_of(names, digest));
	json_put(o, "intact", json_boolean(found > 0));
	json_put(o, "size", json_u64(found > 0 ? size_of(&i) : 0));
	json_put(o, "unpacked", json_boolean(found > 0 && image_is_unpacked(s, &i)));
	if (into)
		json_add(into, json_incref(o));
	else
		print_line(o);
	return found < 0 ? -1 : 0;
}

static int run_list(void *values, char **argv)
{
	const struct values *v = values;
	auto_images struct images *s = NULL;
	auto_image_names struct image_names names = {0};
	auto_json json_t *json = v->json ? json_array() : NULL;
	autofree char(*digests)[DIGEST_TEXT] = NULL;
	struct error err = {0};
	size_t count = 0;
	int status = 0;

	if (argv[0]) {
		cli_say("image list takes no arguments");
		return 2;
	}
	if (images_open(CAS_READ, &s, &err) < 0) {
		/* None was ever made. */
		if (err.code != ERR_MISSING)
			return cli_fail(&err, 2);
	} else if (image_names(s, &names, &err) < 0 || image_list(s, &digests, &count, &err) < 0) {
		return cli_fail(&err, 2);
	}
	for (size_t n = 0; n < count; n++)
		if (list_one(s, &names, digests[n], json, &err) < 0)
			status = 1;
	if (json)
		cli_print_json(json_incref(json));
	return status;
}

static json_t *texts(char **list)
{
	json_t *array = json_array();

	for (char **p = list; p && *p; p++)
		json_add(array, json_str(*p));
	return array;
}

static json_t *text_or_null(const char *s)
{
	return s ? json_str(s) : json_null();
}

static json_t *describe(struct images *s, const struct image *i, const struct image_names *names)
{
	json_t *o = json_object(), *layers = json_array();

	for (size_t n = 0; n < i->manifest.layer_count; n++)
		json_add(layers, json_str(i->manifest.layers[n].digest));
	json_put(o, "digest", json_str(i->digest));
	json_put(o, "config", json_str(i->config_digest));
	json_put(o, "names", names_of(names, i->digest));
	json_put(o, "architecture", text_or_null(i->config.architecture));
	json_put(o, "os", text_or_null(i->config.os));
	json_put(o, "entrypoint", texts(i->config.entrypoint));
	json_put(o, "cmd", texts(i->config.cmd));
	json_put(o, "env", texts(i->config.env));
	json_put(o, "workdir", text_or_null(i->config.workdir));
	json_put(o, "user", text_or_null(i->config.user));
	json_put(o, "layers", layers);
	json_put(o, "size", json_u64(size_of(i)));
	json_put(o, "unpacked", json_boolean(image_is_unpacked(s, i)));
	return o;
}

/* "key: value" lines, sorted by key as the JSON is. */
static void print_lines(const json_t *o)
{
	const char *key;
	json_t *value;

	/* jansson keeps the order of insertion. */
	json_object_foreach((json_t *)(uintptr_t)o, key, value)
	{
		autofree char *text = json_is_string(value) ? mem_strdup(json_string_value(value))
							    : json_text(value);

		printf("%-13s %s\n", key, text);
	}
}

static int run_show(void *values, char **argv)
{
	const struct values *v = values;
	auto_images struct images *s = NULL;
	auto_image_names struct image_names names = {0};
	auto_image_ref struct image_ref ref = {0};
	auto_image struct image i = {.lock = -1};
	auto_json json_t *o = NULL;
	struct error err;

	if (!argv[0] || argv[1]) {
		cli_say("image show takes one reference");
		return 2;
	}
	if (image_ref_parse(argv[0], &ref, &err) < 0 || images_open(CAS_READ, &s, &err) < 0 ||
		image_find(s, &ref, &i, &err) < 0 || image_names(s, &names, &err) < 0)
		return cli_fail(&err, err.code == ERR_MISSING || err.code == ERR_TAMPERED ? 1 : 2);
	o = describe(s, &i, &names);
	if (v->json)
		cli_print_json(json_incref(o));
	else
		print_lines(o);
	return 0;
}

const struct cli_command command_image_list = {
	.name = "image list",
	.arguments = "",
	.summary = "List the container images that are here",
	.details = "A line is the digest, the size of the parts, whether it is unpacked, and its "
		   "names. The status is 1 when a\nmanifest or config is not what its digest "
		   "says.\n",
	.options = no_options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run_list,
	.usage_status = 2,
};

const struct cli_command command_image_show = {
	.name = "image show",
	.arguments = "NAME[:TAG]|DIGEST",
	.summary = "Show what a container image says of itself",
	.details = NULL,
	.options = no_options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run_show,
	.usage_status = 2,
};
