/* SPDX-License-Identifier: Apache-2.0 */
/* The names of images: see inside.h. */
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
#include "codec/json.h"
#include "image/inside.h"

enum { NAMES_BYTES_MAX = 64 << 20 };

void image_names_finish(struct image_names *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->items[i].name);
	free(n->items);
	*n = (struct image_names){0};
}

static int read_names(const struct images *s, json_t **ret, struct error *err)
{
	autofree char *text = NULL;
	auto_json json_t *o = NULL;
	autoclose int fd = -1;
	struct stat st;
	json_t *names;
	size_t len;

	fd = beneath_open_file(s->dir, "names.json", &st);
	if (fd < 0 && errno == ENOENT) {
		*ret = json_object();
		return 0;
	}
	if (fd < 0)
		return error_sys(err, "open '%s/names.json'", s->path);
	if (fd_slurp(fd, NAMES_BYTES_MAX, &text, &len, err) < 0 ||
		json_read(text, len, NAMES_BYTES_MAX, &o, err) < 0)
		return error_wrap(err, "'%s/names.json'", s->path);
	names = json_object_get(o, "names");
	if (!json_is_object(names))
		return error_set(err, ERR_FORMAT, "'%s/names.json' has no names", s->path);
	*ret = json_incref(names);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct image_name *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int image_names(struct images *s, struct image_names *ret, struct error *err)
{
	auto_image_names struct image_names n = {0};
	auto_json json_t *names = NULL;
	json_t *value;
	const char *key;

	if (read_names(s, &names, err) < 0)
		return -1;
	n.items = mem_array(json_object_size(names) + 1, sizeof(*n.items));
	json_object_foreach(names, key, value)
	{
		const char *digest = json_string_value(value);

		if (digest && cas_digest_find(digest, n.items[n.count].digest))
			n.items[n.count++].name = mem_strdup(key);
	}
	if (n.count > 0)
		qsort(n.items, n.count, sizeof(*n.items), by_name);
	*ret = n;
	n = (struct image_names){0};
	return 0;
}

/* Whole and durable, or as it was. */
static int write_names(const struct images *s, const json_t *names, struct error *err)
{
	auto_json json_t *o = json_object();
	autofree char *text = NULL;
	autoclose int fd = -1;

	json_put(o, "format", json_str("sandglass.image.names/1"));
	json_put(o, "names", json_deep_copy(names));
	text = json_text(o);
	/* Under the lock nobody else writes this name. */
	if (unlinkat(s->dir, "names.new", 0) < 0 && errno != ENOENT)
		return error_sys(err, "remove '%s/names.new'", s->path);
	fd = openat(s->dir, "names.new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_sys(err, "make '%s/names.new'", s->path);
	if (fd_write_all(fd, text, strlen(text), err) < 0)
		return error_wrap(err, "'%s/names.new'", s->path);
	if (fault_point("image: sync the names") < 0 || fsync(fd) < 0 ||
		fault_point("image: rename the names") < 0 ||
		renameat(s->dir, "names.new", s->dir, "names.json") < 0 || fsync(s->dir) < 0)
		return error_sys(err, "write '%s/names.json'", s->path);
	return 0;
}

int image_name_put(struct images *s, const char *name, const char *digest, struct error *err)
{
	auto_json json_t *names = NULL;
	const char *now;

	if (read_names(s, &names, err) < 0)
		return -1;
	now = json_string_value(json_object_get(names, name));
	if (digest ? now && strcmp(now, digest) == 0 : !now)
		return 0;
	if (digest)
		json_put(names, name, json_str(digest));
	else
		json_object_del(names, name);
	return write_names(s, names, err);
}
