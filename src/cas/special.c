/* SPDX-License-Identifier: Apache-2.0 */
/* The list of special files: see special.h. */
#include "cas/special.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "cas/deep.h"
#include "cas/snapshot.h"

static const struct {
	mode_t type;
	const char *name;
} kinds[] = {{S_IFIFO, "fifo"}, {S_IFSOCK, "socket"}, {S_IFCHR, "character"}, {S_IFBLK, "block"}};

void special_finish(struct special *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->lines[i]);
	free(s->lines);
	*s = (struct special){0};
}

static int add_line(struct special *s, char *line, struct error *err)
{
	autofree char *owned = line;

	s->bytes += strlen(line) + 1;
	if (s->bytes > SNAPSHOT_SPECIAL_MAX)
		return error_set(err, ERR_LIMIT,
			"sockets, fifos and devices whose list has more than %d bytes",
			SNAPSHOT_SPECIAL_MAX);
	if (s->count == s->room) {
		s->room = s->room * 2 + 16;
		s->lines = mem_grow(s->lines, s->room, sizeof(*s->lines));
	}
	s->lines[s->count++] = take_ptr(owned);
	return 0;
}

static void escape(struct bytes *out, const char *path)
{
	for (; *path; path++) {
		char c = *path == '\t' ? 't' : *path == '\n' ? 'n' : *path;

		if (c != *path || c == '\\')
			bytes_put_u8(out, '\\');
		bytes_put_u8(out, (uint8_t)c);
	}
}

int special_add(struct special *s, const char *path, mode_t mode, struct error *err)
{
	auto_bytes struct bytes line = {0};
	const char *kind = "unknown";

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i].type == (mode & S_IFMT))
			kind = kinds[i].name;
	escape(&line, path);
	bytes_put_u8(&line, '\t');
	bytes_put(&line, kind, strlen(kind) + 1);
	return add_line(s, mem_strdup((const char *)line.data), err);
}

/* The path of an escaped one of len bytes (caller frees), or NULL when it is malformed. */
static char *unescape(const char *text, size_t len)
{
	autofree char *path = mem_alloc(len + 1);
	char *to = path;

	for (size_t i = 0; i < len; i++) {
		if (text[i] != '\\') {
			*to++ = text[i];
			continue;
		}
		if (++i == len)
			return NULL;
		if (text[i] != '\\' && text[i] != 't' && text[i] != 'n')
			return NULL;
		*to++ = text[i] == 't' ? '\t' : text[i] == 'n' ? '\n' : '\\';
	}
	return take_ptr(path);
}

static bool is_kind(const char *text, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strlen(kinds[i].name) == len && memcmp(kinds[i].name, text, len) == 0)
			return true;
	return false;
}

/* Nothing of that name is in the tree, and nothing is followed to find out. */
static bool is_absent(int dir, const char *path)
{
	const char *slash = strrchr(path, '/');
	autofree char *parent = slash ? mem_strndup(path, (size_t)(slash - path)) : NULL;
	autoclose int opened = parent ? deep_open(dir, parent) : -1;
	struct stat st;

	if (parent && opened < 0)
		return true;
	return fstatat(parent ? opened : dir, slash ? slash + 1 : path, &st, AT_SYMLINK_NOFOLLOW) <
	       0;
}

int special_merge(struct special *s, const char *list, int dir, struct error *err)
{
	for (const char *line = list; *line;) {
		size_t len = strcspn(line, "\n"), at = strcspn(line, "\t\n");
		autofree char *path = at < len ? unescape(line, at) : NULL;

		if (!path || !path[0] || path[0] == '/' || line[len] != '\n' ||
			!is_kind(line + at + 1, len - at - 1))
			return error_set(err, ERR_FORMAT, "a malformed list of special files");
		if ((dir < 0 || is_absent(dir, path)) &&
			add_line(s, mem_strndup(line, len), err) < 0)
			return -1;
		line += len + 1;
	}
	return 0;
}

/* By the path as it is escaped: any order will do, if it is always the same. */
static int compare(const void *a, const void *b)
{
	const char *x, *y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return strcmp(x, y);
}

char *special_text(struct special *s)
{
	auto_bytes struct bytes out = {0};

	if (s->count == 0)
		return NULL;
	qsort(s->lines, s->count, sizeof(*s->lines), compare);
	for (size_t i = 0; i < s->count; i++) {
		bytes_put(&out, s->lines[i], strlen(s->lines[i]));
		bytes_put_u8(&out, '\n');
	}
	bytes_put_u8(&out, '\0');
	return mem_strdup((const char *)out.data);
}
