/* SPDX-License-Identifier: Apache-2.0 */
/* From a reference to an image of the store: see image.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "image/inside.h"

int image_load(
	struct images *s, const char digest[DIGEST_TEXT], struct image *ret, struct error *err)
{
	auto_image struct image i = {.lock = -1};
	autofree char *manifest = NULL, *config = NULL;
	char root[IMAGE_ROOT_NAME], there[DIGEST_TEXT];
	size_t manifest_len, config_len;
	int found;

	image_root_name(root, digest, NULL);
	found = cas_root_find(s->cas, root, there, err);
	if (found <= 0)
		return found;
	snprintf(i.digest, sizeof(i.digest), "%s", digest);
	if (strcmp(there, i.digest) != 0)
		return error_set(err, ERR_TAMPERED, "the root '%s' names another object", root);
	if (cas_get(s->cas, i.digest, IMAGE_JSON_MAX, &manifest, &manifest_len, err) < 0 ||
		image_manifest_parse(manifest, manifest_len, &i.manifest, err) < 0)
		return error_wrap(err, "image %s", i.digest);
	memcpy(i.config_digest, i.manifest.config.digest, sizeof(i.config_digest));
	if (cas_get(s->cas, i.config_digest, IMAGE_JSON_MAX, &config, &config_len, err) < 0 ||
		image_config_parse(config, config_len, &i.config, err) < 0)
		return error_wrap(err, "image %s", i.digest);
	if (i.config.diff_count != i.manifest.layer_count)
		return error_set(err, ERR_FORMAT, "image %s has %zu layers and %zu diff_ids",
			i.digest, i.manifest.layer_count, i.config.diff_count);
	image_chain(&i.config, i.chain);
	*ret = i;
	i = (struct image){.lock = -1};
	return 1;
}

/* The manifest that an index of the store leads to. */
static int find_by_index(struct images *s, const char *digest, struct image *ret, struct error *err)
{
	char root[IMAGE_ROOT_NAME], there[DIGEST_TEXT];
	autofree char *text = NULL;
	struct image_blob chosen;
	size_t len;
	int found;

	snprintf(root, sizeof(root), "image-index.%.64s", image_hex(digest));
	found = cas_root_find(s->cas, root, there, err);
	if (found <= 0)
		return found;
	if (cas_get(s->cas, digest, IMAGE_JSON_MAX, &text, &len, err) < 0 ||
		image_index_choose(text, len, &chosen, NULL, err) < 0)
		return error_wrap(err, "index %s", digest);
	return image_load(s, chosen.digest, ret, err);
}

/* The first image, by the digest of its manifest, that has this config. */
static int find_by_config(
	struct images *s, const char *digest, struct image *ret, struct error *err)
{
	autofree struct cas_root *roots = NULL;
	size_t count;

	if (cas_roots(s->cas, &roots, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		char manifest[DIGEST_TEXT], hex[DIGEST_HEX];
		int found;

		if (strcmp(roots[i].digest, digest) != 0 || strlen(roots[i].name) != 6 + 64 + 7 ||
			strncmp(roots[i].name, "image.", 6) != 0 ||
			strcmp(roots[i].name + 6 + 64, ".config") != 0)
			continue;
		snprintf(hex, sizeof(hex), "%.64s", roots[i].name + 6);
		if (!cas_digest_find(hex, manifest))
			continue;
		found = image_load(s, manifest, ret, err);
		if (found != 0)
			return found;
	}
	return 0;
}

static int find_by_name(
	struct images *s, const char *name, char ret[DIGEST_TEXT], struct error *err)
{
	auto_image_names struct image_names names = {0};

	if (image_names(s, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		if (strcmp(names.items[i].name, name) == 0) {
			memcpy(ret, names.items[i].digest, DIGEST_TEXT);
			return 1;
		}
	return 0;
}

int image_find(struct images *s, const struct image_ref *ref, struct image *ret, struct error *err)
{
	autofree char *name = image_ref_name(ref);
	char digest[DIGEST_TEXT];
	int found;

	if (!ref->digest[0]) {
		found = find_by_name(s, name, digest, err);
		if (found > 0)
			found = image_load(s, digest, ret, err);
		if (found == 0)
			return error_set(err, ERR_MISSING,
				"there is no image '%.200s' here; 'sandglass image pull %.200s' "
				"gets it from its registry",
				name, name);
		return found < 0 ? -1 : 0;
	}
	found = image_load(s, ref->digest, ret, err);
	if (found == 0)
		found = find_by_index(s, ref->digest, ret, err);
	if (found == 0)
		found = find_by_config(s, ref->digest, ret, err);
	if (found == 0)
		return error_set(err, ERR_MISSING,
			"there is no image %s here; 'sandglass image pull %.150s@%s' gets it from "
			"its registry",
			ref->digest, ref->name ? ref->name : "NAME", ref->digest);
	return found < 0 ? -1 : 0;
}

int image_list(struct images *s, char (**ret)[DIGEST_TEXT], size_t *ret_count, struct error *err)
{
	autofree struct cas_root *roots = NULL;
	char(*list)[DIGEST_TEXT];
	size_t count;

	if (cas_roots(s->cas, &roots, &count, err) < 0)
		return -1;
	list = mem_array(count + 1, sizeof(*list));
	*ret_count = 0;
	for (size_t i = 0; i < count; i++)
		if (strlen(roots[i].name) == 6 + 64 && str_has_prefix(roots[i].name, "image.") &&
			cas_digest_find(roots[i].name + 6, list[*ret_count]))
			++*ret_count;
	*ret = list;
	return 0;
}

static int set_root(struct images *s, const struct image *i, const char *part, const char *digest,
	struct error *err)
{
	char root[IMAGE_ROOT_NAME];

	image_root_name(root, i->digest, part);
	if (fault_point("image: set a root") < 0)
		return error_sys(err, "set the root '%s'", root);
	return cas_root_set(s->cas, root, digest, err);
}

int image_enroll(struct images *s, const struct image *i, const char *name, const char *index,
	struct error *err)
{
	autoclose int lock = -1;
	char text[IMAGE_ROOT_NAME];

	if (images_lock(s, "lock", LOCK_EX, &lock, err) < 0 ||
		set_root(s, i, "config", i->config_digest, err) < 0)
		return -1;
	for (size_t n = 0; n < i->manifest.layer_count; n++) {
		snprintf(text, sizeof(text), "%zu", n);
		if (set_root(s, i, text, i->manifest.layers[n].digest, err) < 0)
			return -1;
	}
	if (set_root(s, i, NULL, i->digest, err) < 0)
		return -1;
	if (index) {
		snprintf(text, sizeof(text), "image-index.%.64s", image_hex(index));
		if (cas_root_set(s->cas, text, index, err) < 0)
			return -1;
	}
	return name ? image_name_put(s, name, i->digest, err) : 0;
}
