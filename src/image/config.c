/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON of images: see config.h. */
#include "image/config.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cas/cas.h"
#include "codec/json.h"

const char *image_architecture(void)
{
#if defined(__x86_64__)
	return "amd64";
#elif defined(__aarch64__)
	return "arm64";
#endif
}

void image_manifest_finish(struct image_manifest *m)
{
	free(m->layers);
	*m = (struct image_manifest){0};
}

static void strings_free(char **list)
{
	for (char **p = list; p && *p; p++)
		free(*p);
	free(list);
}

void image_config_finish(struct image_config *c)
{
	free(c->architecture);
	free(c->os);
	free(c->variant);
	free(c->workdir);
	free(c->user);
	strings_free(c->env);
	strings_free(c->entrypoint);
	strings_free(c->cmd);
	free(c->diff_ids);
	*c = (struct image_config){0};
}

static int read_object(
	const char *text, size_t len, const char *what, json_t **ret, struct error *err)
{
	if (json_read(text, len, IMAGE_JSON_MAX, ret, err) < 0)
		return error_wrap(err, "the %s", what);
	return json_is_object(*ret) ? 0 : error_set(err, ERR_FORMAT, "the %s is no object", what);
}

static int read_blob(const json_t *o, const char *what, struct image_blob *ret, struct error *err)
{
	const json_t *size = json_object_get(o, "size");
	const char *digest = json_string_value(json_object_get(o, "digest"));

	/* Others than SHA-256 are allowed there, and nobody makes them. */
	if (!digest || strncmp(digest, "sha256:", 7) != 0 || !cas_digest_find(digest, ret->digest))
		return error_set(err, ERR_FORMAT, "the %s has no sha256 digest", what);
	if (!json_is_integer(size) || json_integer_value(size) < 0)
		return error_set(err, ERR_FORMAT, "the %s has no size", what);
	ret->size = (uint64_t)json_integer_value(size);
	return 0;
}

int image_manifest_parse(
	const char *text, size_t len, struct image_manifest *ret, struct error *err)
{
	auto_image_manifest struct image_manifest m = {0};
	auto_json json_t *o = NULL;
	const json_t *layers;

	if (read_object(text, len, "manifest", &o, err) < 0)
		return -1;
	layers = json_object_get(o, "layers");
	if (json_object_get(o, "fsLayers"))
		return error_set(err, ERR_UNSUPPORTED,
			"the manifest is of docker's schema 1, which is no longer made; push the "
			"image "
			"again with a newer docker");
	if (read_blob(json_object_get(o, "config"), "manifest's config", &m.config, err) < 0)
		return -1;
	if (!json_is_array(layers) || json_array_size(layers) > IMAGE_LAYERS_MAX)
		return error_set(err, ERR_FORMAT, "the manifest has no layers, or over %d",
			IMAGE_LAYERS_MAX);
	m.layer_count = json_array_size(layers);
	m.layers = mem_array(m.layer_count + 1, sizeof(*m.layers));
	for (size_t i = 0; i < m.layer_count; i++)
		if (read_blob(json_array_get(layers, i), "manifest's layer", &m.layers[i], err) < 0)
			return -1;
	*ret = m;
	m = (struct image_manifest){0};
	return 0;
}

static int read_text(const json_t *o, const char *key, char **ret, struct error *err)
{
	const json_t *v = json_object_get(o, key);

	if (!v || json_is_null(v))
		return 0;
	if (!json_is_string(v))
		return error_set(err, ERR_FORMAT, "'%s' of the image's config is no text", key);
	*ret = json_string_length(v) ? mem_strdup(json_string_value(v)) : NULL;
	return 0;
}

static int read_texts(const json_t *o, const char *key, char ***ret, struct error *err)
{
	const json_t *v = json_object_get(o, key), *one;
	size_t count = json_array_size(v), i;

	if (!v || json_is_null(v))
		return 0;
	if (!json_is_array(v) || count > IMAGE_STRINGS_MAX)
		return error_set(err, ERR_FORMAT, "'%s' of the image's config is no list", key);
	if (count == 0)
		return 0;
	*ret = mem_array(count + 1, sizeof(**ret));
	json_array_foreach(v, i, one)
	{
		if (!json_is_string(one))
			return error_set(
				err, ERR_FORMAT, "'%s' of the image's config is no list", key);
		(*ret)[i] = mem_strdup(json_string_value(one));
	}
	return 0;
}

static int read_diff_ids(const json_t *o, struct image_config *c, struct error *err)
{
	const json_t *list = json_object_get(json_object_get(o, "rootfs"), "diff_ids"), *one;
	size_t i;

	if (!json_is_array(list) || json_array_size(list) > IMAGE_LAYERS_MAX)
		return error_set(err, ERR_FORMAT, "the image's config has no list of diff_ids");
	c->diff_count = json_array_size(list);
	c->diff_ids = mem_array(c->diff_count + 1, sizeof(*c->diff_ids));
	json_array_foreach(list, i, one)
	{
		const char *text = json_string_value(one);

		if (!text || strncmp(text, "sha256:", 7) != 0 ||
			!cas_digest_find(text, c->diff_ids[i]))
			return error_set(
				err, ERR_FORMAT, "diff_id %zu of the image is no digest", i);
	}
	return 0;
}

int image_config_parse(const char *text, size_t len, struct image_config *ret, struct error *err)
{
	auto_image_config struct image_config c = {0};
	auto_json json_t *o = NULL;
	const json_t *run;

	if (read_object(text, len, "image's config", &o, err) < 0)
		return -1;
	run = json_object_get(o, "config");
	if (read_text(o, "architecture", &c.architecture, err) < 0 ||
		read_text(o, "os", &c.os, err) < 0 ||
		read_text(o, "variant", &c.variant, err) < 0 ||
		read_text(run, "WorkingDir", &c.workdir, err) < 0 ||
		read_text(run, "User", &c.user, err) < 0 ||
		read_texts(run, "Env", &c.env, err) < 0 ||
		read_texts(run, "Entrypoint", &c.entrypoint, err) < 0 ||
		read_texts(run, "Cmd", &c.cmd, err) < 0 || read_diff_ids(o, &c, err) < 0)
		return -1;
	*ret = c;
	c = (struct image_config){0};
	return 0;
}

int image_index_is(const char *text, size_t len)
{
	auto_json json_t *o = NULL;
	struct error err;

	return json_read(text, len, IMAGE_JSON_MAX, &o, &err) == 0 && json_is_object(o) &&
	       json_is_array(json_object_get(o, "manifests"));
}

static const char *platform_text(const json_t *one, const char *key)
{
	const char *s = json_string_value(json_object_get(json_object_get(one, "platform"), key));

	return s ? s : "";
}

/* A descriptor without a platform may be for any. */
static bool is_for_us(const json_t *one)
{
	const json_t *platform = json_object_get(one, "platform");

	return !json_is_object(platform) ||
	       (strcmp(platform_text(one, "os"), "linux") == 0 &&
		       strcmp(platform_text(one, "architecture"), image_architecture()) == 0);
}

static int none_for_us(const json_t *list, struct error *err)
{
	char names[200] = "";
	size_t i, used = 0;
	const json_t *one;

	json_array_foreach(list, i, one)
	{
		autofree char *shown = str_printable(platform_text(one, "architecture"),
			strlen(platform_text(one, "architecture")), 20);

		if (used < sizeof(names) - 64)
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
				used ? ", " : "", shown);
	}
	return error_set(err, ERR_UNSUPPORTED, "the image is not for linux/%s; it is for %s",
		image_architecture(), used ? names : "nothing");
}

int image_index_choose(
	const char *text, size_t len, struct image_blob *ret, char **ret_name, struct error *err)
{
	auto_json json_t *o = NULL;
	const json_t *list, *one, *name;
	size_t i;

	if (read_object(text, len, "index", &o, err) < 0)
		return -1;
	list = json_object_get(o, "manifests");
	if (!json_is_array(list))
		return error_set(err, ERR_FORMAT, "the index has no manifests");
	json_array_foreach(list, i, one)
	{
		struct image_blob found;

		if (!is_for_us(one))
			continue;
		if (read_blob(one, "index's manifest", &found, err) < 0)
			return -1;
		name = json_object_get(
			json_object_get(one, "annotations"), "io.containerd.image.name");
		if (!name)
			name = json_object_get(json_object_get(one, "annotations"),
				"org.opencontainers.image.ref.name");
		if (ret_name)
			*ret_name =
				json_is_string(name) ? mem_strdup(json_string_value(name)) : NULL;
		*ret = found;
		return 0;
	}
	return none_for_us(list, err);
}

void image_chain(const struct image_config *c, char ret[DIGEST_TEXT])
{
	digest_of("", 0, ret);
	for (size_t i = 0; i < c->diff_count; i++) {
		autofree char *both = str_format("%s %s", ret, c->diff_ids[i]);

		if (i == 0)
			memcpy(ret, c->diff_ids[0], DIGEST_TEXT);
		else
			digest_of(both, strlen(both), ret);
	}
}
