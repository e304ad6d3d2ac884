/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass image import and image pull: images into the store. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/store.h"
#include "image/image.h"

struct values {
	const char *name, *format, *command;
	uint64_t max_size;
	bool json;
};

#define AT(field) offsetof(struct values, field)
#define MAX_SIZE \
	{ \
		"max-size", CLI_SIZE, "SIZE", "unpack at most so much; default: 16G", \
			AT(max_size), \
			"What unpacks to more is refused, whatever its size is. " \
			"The limit of entries is 2,000,000." \
	}

static const struct cli_option import_options[] = {
	{"name", CLI_TEXT, "NAME[:TAG]", "call it so; default: as the archive does, if it does",
		AT(name)},
	{"format", CLI_TEXT, "FORMAT", "auto, oci, docker or rootfs; default: auto", AT(format)},
	{"command", CLI_TEXT, "LINE", "of a plain root: the shell line that it runs by default",
		AT(command)},
	MAX_SIZE,
	{0},
};

static const struct cli_option pull_options[] = {
	MAX_SIZE,
	{0},
};

static int tell(const struct values *v, struct image *i)
{
	struct error err;
	bool is_ours = image_check_platform(i, &err) == 0;

	cli_progress_end();
	if (!is_ours)
		cli_say(err.msg);
	if (i->left_out > 0)
		fprintf(stderr,
			"sandglass: left out: %" PRIu64
			" device nodes and attributes that this user cannot make\n",
			i->left_out);
	if (v->json) {
		json_t *o = json_object();

		json_put(o, "digest", json_str(i->digest));
		json_put(o, "config", json_str(i->config_digest));
		json_put(o, "unpacked", json_boolean(i->root));
		json_put(o, "entries", json_u64(i->unpacked_entries));
		json_put(o, "left_out", json_u64(i->left_out));
		cli_print_json(o);
	} else {
		printf("%s\n", i->digest);
	}
	return 0;
}

static int find_format(const char *word, enum image_format *ret)
{
	if (!word)
		return 0;
	for (int i = 0; i < IMAGE_FORMATS; i++)
		if (strcmp(word, image_format_names[i]) == 0) {
			*ret = (enum image_format)i;
			return 0;
		}
	return -1;
}

static int run_import(void *values, char **argv)
{
	const struct values *v = values;
	struct cas_progress progress = cli_progress("importing");
	struct image_import o = {.name = v->name,
		.command = v->command,
		.max_bytes = v->max_size,
		.progress = &progress};
	auto_images struct images *s = NULL;
	auto_image struct image i = {.lock = -1};
	struct error err;

	if (!argv[0] || argv[1]) {
		cli_say("image import takes one file or directory");
		return 2;
	}
	if (find_format(v->format, &o.format) < 0) {
		cli_say("--format is auto, oci, docker or rootfs");
		return 2;
	}
	if (images_open(CAS_WRITE, &s, &err) < 0 || image_import(s, argv[0], &o, &i, &err) < 0) {
		cli_progress_end();
		return cli_fail(&err, err.code == ERR_TAMPERED ? 1 : 2);
	}
	return tell(v, &i);
}

static int run_pull(void *values, char **argv)
{
	const struct values *v = values;
	struct cas_progress progress = cli_progress("pulling");
	const struct image_import o = {.max_bytes = v->max_size, .progress = &progress};
	auto_images struct images *s = NULL;
	auto_image struct image i = {.lock = -1};
	struct error err;

	if (!argv[0] || argv[1]) {
		cli_say("image pull takes one reference; for example: sandglass image pull "
			"debian:12");
		return 2;
	}
	if (images_open(CAS_WRITE, &s, &err) < 0 || image_pull(s, argv[0], &o, &i, &err) < 0) {
		cli_progress_end();
		return cli_fail(&err, err.code == ERR_TAMPERED ? 1 : 2);
	}
	return tell(v, &i);
}

const struct cli_command command_image_import = {
	.name = "image import",
	.arguments = "FILE|DIR",
	.summary = "Take a container image from an archive or directory",
	.details =
		"An OCI layout, what docker save writes, what skopeo calls dir, or a plain root "
		"file system; a directory or a\ntar file, compressed or not. It is unpacked at "
		"once and its digest is printed. The status is 1 when a part\nhas not the digest "
		"that it should have, 2 when it is refused for anything else; the store is then "
		"as it was.\n",
	.options = import_options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run_import,
	.usage_status = 2,
};

const struct cli_command command_image_pull = {
	.name = "image pull",
	.arguments = "NAME[:TAG][@DIGEST]",
	.summary = "Take a container image from a registry",
	.details = "It needs skopeo(1), whose credentials and settings hold. The digest of the "
		   "manifest "
		   "is printed. A registry\non a loopback address is asked without TLS.\n",
	.options = pull_options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run_pull,
	.usage_status = 2,
};
