/* SPDX-License-Identifier: Apache-2.0 */
/* Reading results.json: see results.h. */
#include "replicate/results.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/beneath.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "codec/json.h"

enum { NAME_MAX_BYTES = 256 };

void results_finish(struct results *r)
{
	for (size_t i = 0; i < r->count; i++)
		free(r->items[i].name);
	free(r->items);
	*r = (struct results){0};
}

static int by_name(const void *a, const void *b)
{
	const struct result *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int take(const json_t *object, struct results *r, struct error *err)
{
	const char *name;
	json_t *item;

	r->items = mem_array(json_object_size(object), sizeof(*r->items));
	json_object_foreach((json_t *)(uintptr_t)object, name, item)
	{
		if (strlen(name) > NAME_MAX_BYTES)
			return error_set(
				err, ERR_LIMIT, "a name longer than %d bytes", NAME_MAX_BYTES);
		if (!json_is_real(item) || !isfinite(json_real_value(item))) {
			autofree char *safe = str_printable(name, strlen(name), 100);

			return error_set(err, ERR_FORMAT, "'%s' is no number", safe);
		}
		r->items[r->count++] = (struct result){mem_strdup(name), json_real_value(item)};
	}
	if (r->count > 0)
		qsort(r->items, r->count, sizeof(*r->items), by_name);
	return 0;
}

int results_parse(const char *text, size_t len, struct results *ret, struct error *err)
{
	auto_results struct results r = {0};
	auto_json json_t *value = NULL;

	if (json_read_numbers(text, len, RESULTS_MAX, true, &value, err) < 0)
		return -1;
	if (!json_is_object(value))
		return error_set(err, ERR_FORMAT, "it is no JSON object");
	if (json_object_size(value) > RESULTS_COUNT_MAX)
		return error_set(err, ERR_LIMIT, "more than %d names", RESULTS_COUNT_MAX);
	if (take(value, &r, err) < 0)
		return -1;
	*ret = r;
	r = (struct results){0};
	return 0;
}

int results_read(int dir, struct results *ret, struct error *err)
{
	struct stat st;
	autoclose int fd = beneath_open_file(dir, RESULTS_NAME, &st);
	autofree char *text = NULL;
	size_t len;

	if (fd < 0 && errno == ENXIO)
		return error_set(err, ERR_FORMAT, "it is no regular file");
	if (fd < 0)
		return error_sys(err, "open '%s'", RESULTS_NAME);
	if (st.st_size > RESULTS_MAX)
		return error_set(err, ERR_LIMIT, "%lld bytes; the limit is %d",
			(long long)st.st_size, RESULTS_MAX);
	if (fd_slurp(fd, RESULTS_MAX, &text, &len, err) < 0)
		return -1;
	return results_parse(text, len, ret, err);
}

static int named(const void *key, const void *item)
{
	const char *name = key;
	const struct result *r = item;

	return strcmp(name, r->name);
}

const double *results_find(const struct results *r, const char *name)
{
	const struct result *found =
		r->count ? bsearch(name, r->items, r->count, sizeof(*r->items), named) : NULL;

	return found ? &found->value : NULL;
}
