/* SPDX-License-Identifier: Apache-2.0 */
/* Extended attributes: see xattrs.h. */
#include "cas/xattrs.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "base/mem.h"
#include "base/str.h"

/* The kernel's own limits (linux/limits.h). */
enum { FEW = 1024, NAMES_MAX = 65536, VALUE_MAX = 65536 };

void xattrs_finish(struct xattrs *x)
{
	for (size_t i = 0; i < x->count; i++) {
		void *value = (void *)(uintptr_t)x->list[i].value;

		free(value);
	}
	free(x->list);
	free(x->names);
	*x = (struct xattrs){0};
}

static int compare(const void *a, const void *b)
{
	const struct tar_xattr *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int add(int fd, const char *name, struct xattrs *x)
{
	autofree char *value = mem_alloc(VALUE_MAX);
	ssize_t len = fgetxattr(fd, name, value, VALUE_MAX);

	if (len < 0)
		return -1;
	x->list = mem_grow(x->list, x->count + 1, sizeof(*x->list));
	x->list[x->count++] =
		(struct tar_xattr){name, mem_dup(value, (size_t)len + 1), (size_t)len};
	return 0;
}

int xattrs_read(int fd, struct xattrs *x)
{
	char few[FEW];
	ssize_t len = flistxattr(fd, few, sizeof(few));

	/* Nearly every file has none. */
	if (len == 0 || (len < 0 && (errno == EOPNOTSUPP || errno == ENOSYS)))
		return 0;
	if (len < 0 && errno != ERANGE)
		return -1;
	x->names = len < 0 ? mem_alloc(NAMES_MAX) : mem_dup(few, (size_t)len);
	if (len < 0)
		len = flistxattr(fd, x->names, NAMES_MAX);
	if (len < 0)
		return -1;
	for (ssize_t at = 0; at < len; at += (ssize_t)strlen(x->names + at) + 1)
		if (str_has_prefix(x->names + at, "user.") && add(fd, x->names + at, x) < 0)
			return -1;
	if (x->count > 0)
		qsort(x->list, x->count, sizeof(*x->list), compare);
	return 0;
}
