/* SPDX-License-Identifier: Apache-2.0 */
/* Runtimes and their images: see oci.h. */
#include "oci/oci.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "codec/json.h"
#include "config/settings.h"
#include "oci/client.h"
#include "oci/cmdline.h"

enum { JSON_MAX = 4 << 20, HEX = 64 };

static const char digest_start[] = "sha256:";

void oci_finish(struct oci *r)
{
	words_finish(&r->program);
}

static int open_one(const struct dialect *d, struct oci *ret, struct error *err)
{
	autofree char *set = NULL;
	int found = settings_find(d->name, &set, err);

	if (found < 0)
		return -1;
	*ret = (struct oci){.dialect = d};
	words_split(&ret->program, found ? set : d->name);
	if (ret->program.count > 0)
		return 0;
	return error_set(err, ERR_USAGE, "the setting '%s' is empty", d->name);
}

int oci_check(const struct oci *r, char **ret_version, struct error *err)
{
	auto_words struct words ask = {0};
	struct error why;

	cmdline_ask(r, r->dialect->version, NULL, &ask);
	if (client_ask(ask.items, ret_version, &why) < 0)
		return error_set(err, ERR_UNSUPPORTED, "%.380s; %s", why.msg, r->dialect->start);
	(*ret_version)[strcspn(*ret_version, "\n")] = '\0';
	return 0;
}

int oci_open(const char *name, struct oci *ret, struct error *err)
{
	const struct dialect *d = dialect_find(name);
	struct error why;

	if (d)
		return open_one(d, ret, err);
	if (strcmp(name, "auto") != 0)
		return error_set(err, ERR_USAGE,
			"--runtime '%.64s' is none of auto, native, docker, podman and nerdctl",
			name);
	for (size_t i = 0; i < dialect_count; i++) {
		auto_oci struct oci r = {0};
		autofree char *version = NULL;

		if (open_one(&dialects[i], &r, err) < 0)
			return -1;
		if (oci_check(&r, &version, &why) < 0)
			continue;
		*ret = r;
		r = (struct oci){0};
		return 0;
	}
	return error_set(err, ERR_UNSUPPORTED,
		"none of docker, podman and nerdctl can be used here; `sandglass doctor --runtime "
		"docker` says why");
}

/* ---- images ---- */

static bool is_digest(const char *text)
{
	size_t start = sizeof(digest_start) - 1, n = 0;

	if (strncmp(text, digest_start, start) != 0)
		return false;
	while (isdigit((unsigned char)text[start + n]) ||
		(text[start + n] >= 'a' && text[start + n] <= 'f'))
		n++;
	return n == HEX && text[start + n] == '\0';
}

/* The digest in NAME@DIGEST, or the whole text; NULL when it is none. */
static const char *digest_in(const char *ref)
{
	const char *at = strrchr(ref, '@'), *digest = at ? at + 1 : ref;

	return is_digest(digest) ? digest : NULL;
}

static void free_list(char **list)
{
	for (char **p = list; p && *p; p++)
		free(*p);
	free(list);
}

void oci_image_finish(struct oci_image *i)
{
	free(i->ref);
	free(i->pinned);
	free_list(i->digests);
	image_config_finish(&i->image.config);
	*i = (struct oci_image){.image.lock = -1};
}

bool oci_image_is(const struct oci_image *i, const char *digest)
{
	for (char **p = i->digests; p && *p; p++)
		if (strcmp(*p, digest) == 0)
			return true;
	return false;
}

/* NULL for what is absent or empty. */
static char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text && text[0] ? mem_strdup(text) : NULL;
}

/* A list of strings, or NULL for none. */
static char **list_of(const json_t *o, const char *key)
{
	json_t *list = json_object_get(o, key), *one;
	size_t i, count = 0, size = json_array_size(list);
	char **ret;

	if (size == 0 || size > IMAGE_STRINGS_MAX)
		return NULL;
	ret = mem_array(size + 1, sizeof(*ret));
	json_array_foreach(list, i, one) if (json_is_string(one)) ret[count++] =
		mem_strdup(json_string_value(one));
	return ret;
}

/* Its own id and those of its repositories; the one of the reference names it in the contract. */
static int take_digests(const json_t *o, struct oci_image *i, struct error *err)
{
	const char *id = json_string_value(json_object_get(o, "Id")), *own = digest_in(i->ref);
	autofree char *whole =
		id ? str_format("%s%s", is_digest(id) ? "" : digest_start, id) : NULL;
	char **repos = list_of(o, "RepoDigests");
	size_t count = 0, n = 0;

	while (repos && repos[count])
		count++;
	i->digests = mem_array(count + 3, sizeof(*i->digests));
	for (size_t k = 0; k < count; k++)
		if (digest_in(repos[k])) {
			i->digests[n++] = mem_strdup(digest_in(repos[k]));
			if (!i->pinned)
				i->pinned = mem_strdup(repos[k]);
		}
	free_list(repos);
	if (!whole || !is_digest(whole))
		return error_set(err, ERR_FORMAT, "the runtime's answer has no id of the image");
	i->digests[n++] = mem_strdup(whole);
	i->is_pinned = own != NULL;
	if (own && !oci_image_is(i, own))
		i->digests[n++] = mem_strdup(own);
	if (!i->pinned)
		i->pinned = mem_strdup(whole);
	snprintf(i->image.digest, sizeof(i->image.digest), "%s", own ? own : i->digests[0]);
	return 0;
}

static int take_image(const char *text, const char *ref, struct oci_image *ret, struct error *err)
{
	auto_oci_image struct oci_image i = {.ref = mem_strdup(ref), .image.lock = -1};
	struct image_config *config = &i.image.config;
	auto_json json_t *value = NULL;
	const json_t *o, *c;

	if (json_read(text, strlen(text), JSON_MAX, &value, err) < 0)
		return error_wrap(err, "the runtime's answer");
	/* nerdctl: a list of one. */
	o = json_is_array(value) ? json_array_get(value, 0) : value;
	c = json_object_get(o, "Config");
	config->architecture = text_of(o, "Architecture");
	config->os = text_of(o, "Os");
	config->workdir = text_of(c, "WorkingDir");
	config->user = text_of(c, "User");
	config->env = list_of(c, "Env");
	config->entrypoint = list_of(c, "Entrypoint");
	config->cmd = list_of(c, "Cmd");
	if (take_digests(o, &i, err) < 0)
		return -1;
	if (config->architecture && strcmp(config->architecture, image_architecture()) != 0)
		return error_set(err, ERR_UNSUPPORTED,
			"it is for %.32s, and this machine and its supervisor are %s",
			config->architecture, image_architecture());
	*ret = i;
	i = (struct oci_image){.image.lock = -1};
	return 0;
}

int oci_image_find(const struct oci *r, const char *ref, struct oci_image *ret, struct error *err)
{
	auto_words struct words ask = {0};
	autofree char *text = NULL;
	struct error why;

	if (ref[0] == '-' || ref[0] == '\0')
		return error_set(err, ERR_USAGE, "--image '%.100s' is no reference", ref);
	cmdline_ask(r, r->dialect->inspect, ref, &ask);
	if (client_ask(ask.items, &text, &why) < 0)
		return error_set(err, ERR_MISSING, "--image '%.110s': %.330s", ref, why.msg);
	return take_image(text, ref, ret, err) < 0 ? error_wrap(err, "--image '%.150s'", ref) : 0;
}
