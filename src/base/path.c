/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as text: see path.h. */
#include "base/path.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

char *path_join(const char *base, const char *rest)
{
	autofree char *joined = NULL;

	if (rest[0] == '/')
		return path_tidy(rest);
	joined = str_format("%s/%s", base, rest);
	return path_tidy(joined);
}

char *path_tidy(const char *path)
{
	char *out = mem_alloc(strlen(path) + 2);
	size_t len = 0;
	bool absolute = path[0] == '/';

	for (const char *p = path; *p;) {
		const char *end = strchrnul(p, '/');
		size_t n = (size_t)(end - p);

		if (n == 2 && p[0] == '.' && p[1] == '.' && absolute) {
			while (len > 0 && out[--len] != '/')
				;
		} else if (n > 0 && !(n == 1 && p[0] == '.')) {
			if (absolute || len > 0)
				out[len++] = '/';
			memcpy(out + len, p, n);
			len += n;
		}
		p = *end ? end + 1 : end;
	}
	if (len == 0)
		out[len++] = absolute ? '/' : '.';
	out[len] = '\0';
	return out;
}

bool path_is_in(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (strcmp(dir, "/") == 0)
		return true;
	return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

char *path_dirname(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return mem_strdup(".");
	return mem_strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

const char *path_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
