/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images from files and directories: see image.h.
 *
 * How it works. Every part is put into the store under its digest, which has to be the one that the
 * part above it names. Then the image is unpacked, which hashes all layers and what is in them, and
 * only then it gets its roots in the store and its name. Whatever goes wrong before leaves objects
 * that nothing leads to, for gc.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "codec/json.h"
#include "image/inside.h"

enum { INDEX_DEPTH = 4 };

const char *const image_format_names[IMAGE_FORMATS] = {[IMAGE_AUTO] = "auto",
	[IMAGE_OCI] = "oci",
	[IMAGE_DOCKER] = "docker",
	[IMAGE_ROOTFS] = "rootfs"};

#define MANIFEST_TYPE "application/vnd.oci.image.manifest.v1+json"
#define CONFIG_TYPE "application/vnd.oci.image.config.v1+json"
#define LAYER_TYPE "application/vnd.oci.image.layer.v1.tar"

static uint64_t max_of(const struct image_import *o)
{
	return o->max_bytes ? o->max_bytes : IMAGE_BYTES_MAX;
}

/* A regular file of the directory; what follows a symlink of docker's is beneath it too. */
static int open_part(const struct image_parts *p, const char *name, int *ret_fd, struct error *err)
{
	autofree char *shown = str_printable(name, strlen(name), 120);
	char target[1024];
	struct stat st;
	ssize_t len;
	int fd = beneath_open_file(p->dir, name, &st);

	/* A layer that occurs twice is a symlink, "../ID/layer.tar", in older archives. */
	len = fd < 0 ? readlinkat(p->dir, name, target, sizeof(target) - 1) : -1;
	if (len > 0 && !strstr(name, "..")) {
		autofree char *full = str_format("/%s", name), *dir = path_dirname(full),
			      *to = NULL;

		target[len] = '\0';
		to = path_join(dir, target);
		fd = target[0] == '/' ? -1 : beneath_open_file(p->dir, to + 1, &st);
	}
	if (fd < 0)
		return errno == ENOENT ? error_set(err, ERR_MISSING, "'%s' is not in it", shown)
				       : error_sys(err, "open '%s' of it", shown);
	*ret_fd = fd;
	return 0;
}

/* Puts a file under the digest that it has to have; "" : whatever it has. */
static int put_part(struct images *s, const struct image_parts *p, const char *name,
	const char *expected, const char *type, char ret[DIGEST_TEXT], struct error *err)
{
	const struct cas_about about = {.content_type = type};
	autoclose int fd = -1;

	if (open_part(p, name, &fd, err) < 0 ||
		cas_put_fd(s->cas, fd, &about, p->o->progress, ret, err) < 0)
		return -1;
	if (expected[0] && strcmp(ret, expected) != 0)
		return error_set(err, ERR_TAMPERED, "%s is really %s", expected, ret);
	return 0;
}

static int put_text(struct images *s, const char *text, const char *type, char ret[DIGEST_TEXT],
	struct error *err)
{
	const struct cas_about about = {.content_type = type};

	return cas_put(s->cas, text, strlen(text), &about, ret, err);
}

/* All parts are in the store: reads them back, unpacks them, and makes them an image. */
static int finish(struct images *s, const struct image_parts *p, const char *manifest,
	struct image *ret, struct error *err)
{
	auto_image struct image i = {.lock = -1};
	autofree char *text = NULL, *config = NULL;
	struct error foreign;
	size_t len;

	snprintf(i.digest, sizeof(i.digest), "%s", manifest);
	if (cas_get(s->cas, i.digest, IMAGE_JSON_MAX, &text, &len, err) < 0 ||
		image_manifest_parse(text, len, &i.manifest, err) < 0)
		return -1;
	memcpy(i.config_digest, i.manifest.config.digest, sizeof(i.config_digest));
	if (cas_get(s->cas, i.config_digest, IMAGE_JSON_MAX, &config, &len, err) < 0 ||
		image_config_parse(config, len, &i.config, err) < 0)
		return -1;
	if (i.config.diff_count != i.manifest.layer_count)
		return error_set(err, ERR_FORMAT, "it has %zu layers and %zu diff_ids",
			i.manifest.layer_count, i.config.diff_count);
	image_chain(&i.config, i.chain);
	/* One for another machine can be kept, but is not unpacked. */
	if (image_check_platform(&i, &foreign) == 0 &&
		image_use_within(s, &i, max_of(p->o), p->o->progress, err) < 0)
		return -1;
	if (image_enroll(s, &i, p->name, p->index, err) < 0)
		return -1;
	*ret = i;
	i = (struct image){.lock = -1};
	return 0;
}

/* Where a blob lies: in an OCI layout, or in what skopeo's "dir" makes. */
static char *blob_name(const char *digest, bool is_flat)
{
	return is_flat ? mem_strdup(image_hex(digest))
		       : str_format("blobs/sha256/%s", image_hex(digest));
}

static int put_blobs(struct images *s, const struct image_parts *p, const char *manifest_text,
	size_t len, bool is_flat, struct error *err)
{
	auto_image_manifest struct image_manifest m = {0};
	char is[DIGEST_TEXT];

	if (image_manifest_parse(manifest_text, len, &m, err) < 0)
		return -1;
	for (size_t n = 0; n <= m.layer_count; n++) {
		const struct image_blob *b = n < m.layer_count ? &m.layers[n] : &m.config;
		autofree char *name = blob_name(b->digest, is_flat);
		int there = cas_hold(s->cas, b->digest, err);

		if (there < 0)
			return -1;
		/* An intact one need not be there a second time. */
		if (there > 0 && cas_verify(s->cas, b->digest, NULL, NULL) == CAS_INTACT)
			continue;
		if (put_part(s, p, name, b->digest, n < m.layer_count ? LAYER_TYPE : CONFIG_TYPE,
			    is, err) < 0)
			return error_wrap(
				err, n < m.layer_count ? "layer %.19s" : "config %.19s", b->digest);
	}
	return 0;
}

static int read_part(const struct image_parts *p, const char *name, char **ret, size_t *ret_len,
	struct error *err)
{
	autoclose int fd = -1;

	if (open_part(p, name, &fd, err) < 0)
		return -1;
	return fd_slurp(fd, IMAGE_JSON_MAX, ret, ret_len, err) < 0 ? error_wrap(err, "'%s'", name)
								   : 0;
}

/* index.json, and indexes that it leads to, down to a manifest for this machine. */
static int import_layout(
	struct images *s, const struct image_parts *p, struct image *ret, struct error *err)
{
	autofree char *text = NULL, *named = NULL;
	struct image_parts with = *p;
	char digest[DIGEST_TEXT];
	size_t len;

	if (read_part(p, "index.json", &text, &len, err) < 0)
		return -1;
	for (int depth = 0; image_index_is(text, len); depth++) {
		autofree char *name = NULL, *found = NULL;
		struct image_blob b;

		if (depth == INDEX_DEPTH)
			return error_set(err, ERR_LIMIT, "indexes lead to indexes");
		if (image_index_choose(text, len, &b, named ? NULL : &found, err) < 0)
			return -1;
		if (found)
			named = take_ptr(found);
		mem_cleanup(&text);
		name = blob_name(b.digest, false);
		if (read_part(p, name, &text, &len, err) < 0)
			return -1;
		digest_of(text, len, digest);
		if (strcmp(digest, b.digest) != 0)
			return error_set(err, ERR_TAMPERED, "%s is really %s", b.digest, digest);
		text[len] = '\0';
	}
	if (put_blobs(s, p, text, len, false, err) < 0 ||
		cas_put(s->cas, text, len, &(struct cas_about){.content_type = MANIFEST_TYPE},
			digest, err) < 0)
		return -1;
	if (!with.name) {
		auto_image_ref struct image_ref ref = {0};
		struct error none;

		/* skopeo writes a tag there, docker the whole name: only that is one. */
		if (named && strchr(named, ':') && image_ref_parse(named, &ref, &none) == 0) {
			mem_cleanup(&named);
			named = image_ref_name(&ref);
			with.name = named;
		}
	}
	return finish(s, &with, digest, ret, err);
}

/* What `skopeo copy ... dir:` makes: the registry's own manifest. */
static int import_skopeo(
	struct images *s, const struct image_parts *p, struct image *ret, struct error *err)
{
	autofree char *text = NULL;
	char digest[DIGEST_TEXT];
	size_t len;

	if (read_part(p, "manifest.json", &text, &len, err) < 0)
		return -1;
	digest_of(text, len, digest);
	if (p->expected && strcmp(digest, p->expected) != 0)
		return error_set(
			err, ERR_TAMPERED, "the manifest %s is really %s", p->expected, digest);
	if (put_blobs(s, p, text, len, true, err) < 0 ||
		cas_put(s->cas, text, len, &(struct cas_about){.content_type = MANIFEST_TYPE},
			digest, err) < 0)
		return -1;
	return finish(s, p, digest, ret, err);
}

static json_t *descriptor(const char *type, const char *digest, uint64_t size)
{
	json_t *o = json_object();

	json_put(o, "mediaType", json_str(type));
	json_put(o, "digest", json_str(digest));
	json_put(o, "size", json_u64(size));
	return o;
}

static int size_of(struct images *s, const char *digest, uint64_t *ret, struct error *err)
{
	auto_cas_reader struct cas_reader *r = NULL;

	if (cas_reader_open(s->cas, digest, &r, err) < 0)
		return -1;
	*ret = cas_reader_size(r);
	return 0;
}

/* A manifest for what has none: canonical, so that equal parts make equal images. */
static int make_manifest(struct images *s, const char *config, json_t *layers,
	char ret[DIGEST_TEXT], struct error *err)
{
	auto_json json_t *o = json_object();
	autofree char *text = NULL;
	json_t *list = json_array(), *one;
	uint64_t size;
	size_t i;

	json_put(o, "layers", list);
	json_array_foreach(layers, i, one)
	{
		if (size_of(s, json_string_value(one), &size, err) < 0)
			return -1;
		json_add(list, descriptor(LAYER_TYPE, json_string_value(one), size));
	}
	if (size_of(s, config, &size, err) < 0)
		return -1;
	json_put(o, "schemaVersion", json_u64(2));
	json_put(o, "mediaType", json_str(MANIFEST_TYPE));
	json_put(o, "config", descriptor(CONFIG_TYPE, config, size));
	text = json_text(o);
	return put_text(s, text, MANIFEST_TYPE, ret, err);
}

static const json_t *only_image(const json_t *o, struct error *err)
{
	if (!json_is_array(o) || json_array_size(o) == 0) {
		error_set(err, ERR_FORMAT, "its manifest.json is not docker's");
		return NULL;
	}
	if (json_array_size(o) > 1) {
		error_set(err, ERR_USAGE,
			"it holds %zu images; save the one that is wanted by itself",
			json_array_size(o));
		return NULL;
	}
	return json_array_get(o, 0);
}

static int import_docker(
	struct images *s, const struct image_parts *p, struct image *ret, struct error *err)
{
	autofree char *text = NULL, *named = NULL;
	auto_json json_t *o = NULL, *layers = json_array();
	auto_image_ref struct image_ref ref = {0};
	struct image_parts with = *p;
	char config[DIGEST_TEXT], digest[DIGEST_TEXT];
	const json_t *image, *list, *one;
	const char *name;
	size_t len, i;

	if (read_part(p, "manifest.json", &text, &len, err) < 0 ||
		json_read(text, len, IMAGE_JSON_MAX, &o, err) < 0)
		return error_wrap(err, "manifest.json");
	image = only_image(o, err);
	if (!image)
		return -1;
	name = json_string_value(json_object_get(image, "Config"));
	list = json_object_get(image, "Layers");
	if (!name || !json_is_array(list) || json_array_size(list) > IMAGE_LAYERS_MAX)
		return error_set(err, ERR_FORMAT, "its manifest.json has no config or layers");
	if (put_part(s, p, name, "", CONFIG_TYPE, config, err) < 0)
		return error_wrap(err, "config");
	json_array_foreach(list, i, one)
	{
		if (!json_is_string(one))
			return error_set(
				err, ERR_FORMAT, "layer %zu of its manifest.json is no name", i);
		if (put_part(s, p, json_string_value(one), "", LAYER_TYPE, digest, err) < 0)
			return error_wrap(err, "layer %zu", i);
		json_add(layers, json_str(digest));
	}
	name = json_string_value(json_array_get(json_object_get(image, "RepoTags"), 0));
	if (!with.name && name && image_ref_parse(name, &ref, err) == 0)
		with.name = named = image_ref_name(&ref);
	return make_manifest(s, config, layers, digest, err) < 0
		       ? -1
		       : finish(s, &with, digest, ret, err);
}

/* One layer that is in the store already, as an image. */
static int import_layer(struct images *s, const struct image_parts *p, const char *layer,
	struct image *ret, struct error *err)
{
	auto_image_stream struct image_stream *stream = NULL;
	auto_json json_t *o = json_object(), *layers = json_array();
	json_t *run = json_object(), *rootfs = json_object(), *ids = json_array();
	char diff[DIGEST_TEXT], config[DIGEST_TEXT], digest[DIGEST_TEXT];
	autofree char *text = NULL;
	struct archive_input in;

	json_put(o, "config", run);
	json_put(o, "rootfs", rootfs);
	json_put(rootfs, "type", json_str("layers"));
	json_put(rootfs, "diff_ids", ids);
	if (image_stream_open(s, layer, true, &stream, err) < 0)
		return -1;
	in = image_stream_input(stream);
	if (archive_look(&in, max_of(p->o), err) < 0)
		return -1;
	digest_text(stream->diff, diff);
	json_add(ids, json_str(diff));
	json_add(layers, json_str(layer));
	json_put(o, "architecture", json_str(image_architecture()));
	json_put(o, "os", json_str("linux"));
	if (p->o->command) {
		json_t *cmd = json_array();

		json_add(cmd, json_str("/bin/sh"));
		json_add(cmd, json_str("-c"));
		json_add(cmd, json_str(p->o->command));
		json_put(run, "Cmd", cmd);
	}
	text = json_text(o);
	if (put_text(s, text, CONFIG_TYPE, config, err) < 0 ||
		make_manifest(s, config, layers, digest, err) < 0)
		return -1;
	return finish(s, p, digest, ret, err);
}

static int import_root_dir(
	struct images *s, const struct image_parts *p, struct image *ret, struct error *err)
{
	const struct archive_bounds bounds = {max_of(p->o), IMAGE_ENTRIES_MAX};
	autoclose int fd = openat(s->dir, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	char layer[DIGEST_TEXT];

	if (fd < 0)
		return error_sys(err, "make a file in '%s'", s->path);
	if (archive_pack(p->dir, fd, &bounds, err) < 0)
		return -1;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return error_sys(err, "seek");
	if (cas_put_fd(s->cas, fd, &(struct cas_about){.content_type = LAYER_TYPE}, p->o->progress,
		    layer, err) < 0)
		return -1;
	return import_layer(s, p, layer, ret, err);
}

int image_import_dir(struct images *s, const struct image_parts *p, enum image_format format,
	struct image *ret, struct error *err)
{
	autofree char *text = NULL;
	size_t len;
	bool has_layout = faccessat(p->dir, "oci-layout", F_OK, AT_SYMLINK_NOFOLLOW) == 0,
	     has_manifest = faccessat(p->dir, "manifest.json", F_OK, AT_SYMLINK_NOFOLLOW) == 0;

	if (format == IMAGE_AUTO)
		format = has_layout ? IMAGE_OCI : has_manifest ? IMAGE_DOCKER : IMAGE_ROOTFS;
	if (format == IMAGE_OCI)
		return import_layout(s, p, ret, err);
	if (format == IMAGE_ROOTFS)
		return import_root_dir(s, p, ret, err);
	if (read_part(p, "manifest.json", &text, &len, err) < 0)
		return -1;
	return text[strspn(text, " \t\r\n")] == '{' ? import_skopeo(s, p, ret, err)
						    : import_docker(s, p, ret, err);
}

static int next_of_file(void *context, const void **ret_data, size_t *ret_len, struct error *err)
{
	static char buffer[256 * 1024];
	ssize_t got = read(*(const int *)context, buffer, sizeof(buffer));

	if (got < 0)
		return error_sys(err, "read the archive");
	*ret_data = buffer;
	*ret_len = (size_t)got;
	return got > 0;
}

static void tree_close(struct archive_tree **t)
{
	archive_tree_close(*t);
}

/* An archive of an image: unpacked for a moment. */
static int import_archive(struct images *s, struct image_parts *p, int fd, enum image_format format,
	struct image *ret, struct error *err)
{
	const struct archive_bounds bounds = {max_of(p->o), IMAGE_ENTRIES_MAX};
	const struct archive_input in = {.next = next_of_file, .context = &fd};
	struct archive_tree CLEANUP(tree_close) *tree = NULL;
	auto_making struct making m = {.s = s, .fd = -1};

	if (images_tmp_make(s, m.name, &m.fd, err) < 0 ||
		archive_tree_open(m.fd, &bounds, &tree, err) < 0 ||
		archive_apply(tree, &in, true, err) < 0)
		return -1;
	p->dir = m.fd;
	return image_import_dir(s, p, format, ret, err);
}

static int import_file(
	struct images *s, struct image_parts *p, int fd, struct image *ret, struct error *err)
{
	enum image_format format = p->o->format;
	enum archive_kind kind = ARCHIVE_PLAIN;
	char layer[DIGEST_TEXT];

	if (format == IMAGE_AUTO) {
		if (archive_guess(fd, &kind, err) < 0)
			return -1;
		format = kind == ARCHIVE_OCI	  ? IMAGE_OCI
			 : kind == ARCHIVE_DOCKER ? IMAGE_DOCKER
						  : IMAGE_ROOTFS;
	}
	if (format != IMAGE_ROOTFS)
		return import_archive(s, p, fd, format, ret, err);
	if (cas_put_fd(s->cas, fd, &(struct cas_about){.content_type = LAYER_TYPE}, p->o->progress,
		    layer, err) < 0)
		return -1;
	return import_layer(s, p, layer, ret, err);
}

int image_import(struct images *s, const char *path, const struct image_import *o,
	struct image *ret, struct error *err)
{
	autoclose int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct image_parts p = {.dir = fd, .where = path, .o = o};
	auto_image_ref struct image_ref ref = {0};
	autofree char *name = NULL;
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, "'%.300s'", path);
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return error_set(
			err, ERR_USAGE, "'%.300s' is neither a file nor a directory", path);
	if (o->name) {
		if (image_ref_parse(o->name, &ref, err) < 0)
			return -1;
		if (ref.digest[0])
			return error_set(err, ERR_USAGE,
				"'%.200s': the digest comes from the image; give NAME[:TAG]",
				o->name);
		p.name = name = image_ref_name(&ref);
	}
	r = S_ISDIR(st.st_mode) ? image_import_dir(s, &p, o->format, ret, err)
				: import_file(s, &p, fd, ret, err);
	return r < 0 ? error_wrap(err, "'%.200s'", path) : 0;
}
