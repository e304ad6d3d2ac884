/* SPDX-License-Identifier: Apache-2.0 */
/* Forgetting images, and what only they needed: see image.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/remove.h"
#include "base/str.h"
#include "codec/json.h"
#include "image/inside.h"

enum { ROOTS_MAX = 1000000, HEX = 64 };

/* Every image there is; the chains are what roots/ is named by. */
struct all {
	char (*manifests)[DIGEST_TEXT];
	char (*chains)[DIGEST_TEXT];
	size_t count;
};

static void all_finish(struct all *a)
{
	free(a->manifests);
	free(a->chains);
}

static int all_read(struct images *s, struct all *ret, struct error *err)
{
	struct all a = {0};

	if (image_list(s, &a.manifests, &a.count, err) < 0)
		return -1;
	a.chains = mem_array(a.count + 1, sizeof(*a.chains));
	*ret = a;
	for (size_t i = 0; i < a.count; i++) {
		auto_image struct image image = {.lock = -1};

		if (image_load(s, a.manifests[i], &image, err) < 0)
			return -1;
		memcpy(a.chains[i], image.chain, DIGEST_TEXT);
	}
	return 0;
}

static bool has_chain(const struct all *a, const char *hex, const char *but)
{
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(image_hex(a->chains[i]), hex) == 0 &&
			!(but && strcmp(a->manifests[i], but) == 0))
			return true;
	return false;
}

/* Moves the root out of the way first, so that it is whole or gone. Its lock is held. */
static int drop_root(const struct images *s, const char *hex, struct error *err)
{
	autoclose int roots = -1, tmp = -1;
	char name[IMAGE_TMP_NAME];
	autoclose int fd = -1;

	if (images_dir(s, "roots", &roots, err) < 0 || images_dir(s, "tmp", &tmp, err) < 0 ||
		images_tmp_make(s, name, &fd, err) < 0)
		return -1;
	if (fault_point("image: move a root away") < 0 ||
		(renameat(roots, hex, fd, "gone") < 0 && errno != ENOENT))
		return error_sys(err, "move an unpacked image away");
	return remove_tree(tmp, name, err) < 0 ? -1 : 0;
}

/* The roots in the store that belong to one manifest, itself first. */
static int drop_objects(struct images *s, const char digest[DIGEST_TEXT], struct error *err)
{
	autofree struct cas_root *roots = NULL;
	char name[IMAGE_ROOT_NAME];
	size_t count, len;

	image_root_name(name, digest, NULL);
	len = strlen(name);
	if (cas_root_drop(s->cas, name, err) < 0 || cas_roots(s->cas, &roots, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (strncmp(roots[i].name, name, len) == 0 && roots[i].name[len] == '.' &&
			cas_root_drop(s->cas, roots[i].name, err) < 0)
			return -1;
	return 0;
}

/* Indexes that lead to this manifest, or to one that is not there. */
static int drop_indexes(struct images *s, const struct all *a, const char *gone, struct error *err)
{
	autofree struct cas_root *roots = NULL;
	size_t count;

	if (cas_roots(s->cas, &roots, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		autofree char *text = NULL;
		struct image_blob chosen = {0};
		bool is_needed = false;
		size_t len;

		if (!str_has_prefix(roots[i].name, "image-index."))
			continue;
		if (cas_get(s->cas, roots[i].digest, IMAGE_JSON_MAX, &text, &len, NULL) == 0 &&
			image_index_choose(text, len, &chosen, NULL, NULL) == 0)
			for (size_t n = 0; n < a->count; n++)
				is_needed = is_needed ||
					    (strcmp(a->manifests[n], chosen.digest) == 0 &&
						    !(gone && strcmp(gone, chosen.digest) == 0));
		if (!is_needed && cas_root_drop(s->cas, roots[i].name, err) < 0)
			return -1;
	}
	return 0;
}

static int drop_image(struct images *s, const struct image *i, struct error *err)
{
	autofree char *lock_name = str_format("roots/%s.lock", image_hex(i->chain));
	auto_image_names struct image_names names = {0};
	struct all CLEANUP(all_finish) all = {0};
	autoclose int roots = -1, use = -1;

	if (all_read(s, &all, err) < 0 || images_dir(s, "roots", &roots, err) < 0)
		return -1;
	if (images_lock(s, lock_name, LOCK_EX | LOCK_NB, &use, err) < 0)
		return err->code == ERR_BUSY ? error_set(err, ERR_BUSY,
						       "a run uses the image %.19s; it can be "
						       "removed when that has ended",
						       i->digest)
					     : -1;
	if (image_names(s, &names, err) < 0 || drop_objects(s, i->digest, err) < 0 ||
		drop_indexes(s, &all, i->digest, err) < 0)
		return -1;
	for (size_t n = 0; n < names.count; n++)
		if (strcmp(names.items[n].digest, i->digest) == 0 &&
			image_name_put(s, names.items[n].name, NULL, err) < 0)
			return -1;
	/* Another image may have the same files. */
	return has_chain(&all, image_hex(i->chain), i->digest)
		       ? 0
		       : drop_root(s, image_hex(i->chain), err);
}

int image_remove(struct images *s, const struct image_ref *ref, bool *ret_gone, struct error *err)
{
	autofree char *name = image_ref_name(ref);
	auto_image_names struct image_names names = {0};
	auto_image struct image i = {.lock = -1};
	autoclose int lock = -1;
	size_t others = 0;

	if (images_lock(s, "lock", LOCK_EX, &lock, err) < 0 || image_find(s, ref, &i, err) < 0 ||
		image_names(s, &names, err) < 0)
		return -1;
	for (size_t n = 0; n < names.count; n++)
		if (strcmp(names.items[n].digest, i.digest) == 0 &&
			(ref->digest[0] || strcmp(names.items[n].name, name) != 0))
			others++;
	*ret_gone = ref->digest[0] || others == 0;
	return *ret_gone ? drop_image(s, &i, err) : image_name_put(s, name, NULL, err);
}

/* What made.json says that the root takes. */
static uint64_t root_bytes(int roots, const char *hex)
{
	autofree char *path = str_format("%s/made.json", hex), *text = NULL;
	auto_json json_t *made = NULL;
	struct stat st;
	autoclose int fd = beneath_open_file(roots, path, &st);
	size_t len;

	if (fd < 0 || fd_slurp(fd, 65536, &text, &len, NULL) < 0 ||
		json_read(text, len, 65536, &made, NULL) < 0)
		return 0;
	return (uint64_t)json_integer_value(json_object_get(made, "bytes"));
}

static int gc_roots(struct images *s, const struct all *a, struct image_gc *gc, struct error *err)
{
	auto_names struct beneath_names names = {0};
	autoclose int roots = -1;

	if (images_dir(s, "roots", &roots, err) < 0 ||
		beneath_list(roots, ROOTS_MAX, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		const char *hex = names.items[i];
		autofree char *lock_name = str_format("roots/%s.lock", hex);
		autoclose int use = -1;

		if (strlen(hex) != HEX || (!gc->all_roots && has_chain(a, hex, NULL)))
			continue;
		if (images_lock(s, lock_name, LOCK_EX | LOCK_NB, &use, err) < 0) {
			if (err->code == ERR_BUSY)
				continue;
			return -1;
		}
		gc->roots++;
		gc->bytes += root_bytes(roots, hex);
		if (!gc->is_dry && drop_root(s, hex, err) < 0)
			return -1;
	}
	return 0;
}

/* Parts whose manifest never came, or went first: an import or a removal was killed. */
static int gc_parts(struct images *s, const struct all *a, struct error *err)
{
	autofree struct cas_root *roots = NULL;
	size_t count;

	if (cas_roots(s->cas, &roots, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		bool is_needed = false;

		if (!str_has_prefix(roots[i].name, "image.") || strlen(roots[i].name) <= 6 + HEX)
			continue;
		for (size_t n = 0; n < a->count; n++)
			is_needed = is_needed || strncmp(roots[i].name + 6,
							 image_hex(a->manifests[n]), HEX) == 0;
		if (!is_needed && cas_root_drop(s->cas, roots[i].name, err) < 0)
			return -1;
	}
	return drop_indexes(s, a, NULL, err);
}

int image_gc(struct images *s, struct image_gc *gc, struct error *err)
{
	struct all CLEANUP(all_finish) all = {0};
	struct cas_gc objects = {.is_dry = gc->is_dry};
	autoclose int lock = -1;

	gc->roots = gc->objects = gc->bytes = 0;
	if (images_lock(s, "lock", LOCK_EX, &lock, err) < 0 || all_read(s, &all, err) < 0 ||
		gc_roots(s, &all, gc, err) < 0 || (!gc->is_dry && gc_parts(s, &all, err) < 0) ||
		cas_gc(s->cas, &objects, err) < 0)
		return -1;
	gc->objects = objects.removed_objects;
	gc->bytes += objects.removed_bytes;
	return 0;
}
