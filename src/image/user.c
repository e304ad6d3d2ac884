/* SPDX-License-Identifier: Apache-2.0 */
/* The user of an image, by its own passwd and group: see image.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"
#include "image/inside.h"

enum { TABLE_MAX = 4 << 20, ID_MAX = 2147483647 };

/* etc/passwd or etc/group of the image; "" when it has none. */
static int read_table(const struct image *i, const char *path, char **ret, struct error *err)
{
	autoclose int root = i->root ? open(i->root, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1,
		      fd = -1;
	struct stat st;
	size_t len;

	/* Of an image that is unpacked elsewhere numbers alone are known. */
	if (!i->root) {
		*ret = mem_strdup("");
		return 0;
	}
	if (root < 0)
		return error_sys(err, "open '%s'", i->root);
	fd = beneath_open_file(root, path, &st);
	if (fd < 0) {
		*ret = mem_strdup("");
		return 0;
	}
	return fd_slurp(fd, TABLE_MAX, ret, &len, err);
}

/* The n-th field of a line of passwd(5), as a new text. */
static char *field(const char *line, size_t n)
{
	const char *end = strchrnul(line, '\n');

	for (; n > 0 && line < end; n--)
		line += strcspn(line, ":\n") + 1;
	return line > end ? mem_strdup("") : mem_strndup(line, strcspn(line, ":\n"));
}

static bool find_line(const char *table, size_t key, const char *value, const char **ret)
{
	for (const char *line = table; *line; line = strchrnul(line, '\n')) {
		autofree char *is = NULL;

		if (*line == '\n')
			line++;
		is = field(line, key);
		if (*line && strcmp(is, value) == 0) {
			*ret = line;
			return true;
		}
	}
	return false;
}

static bool parse_id(const char *text, uint32_t *ret)
{
	struct error err;
	uint64_t value;

	if (!*text || num_parse_u64(text, ID_MAX, &value, &err) < 0)
		return false;
	*ret = (uint32_t)value;
	return true;
}

/* A number stands for itself; a name has to be in the table, whose third field is its number. */
static int find_id(const char *table, const char *word, const char *what, uint32_t *ret,
	const char **ret_line, struct error *err)
{
	const char *line;

	*ret_line = NULL;
	if (parse_id(word, ret)) {
		if (find_line(table, 2, word, &line))
			*ret_line = line;
		return 0;
	}
	if (find_line(table, 0, word, &line)) {
		autofree char *number = field(line, 2);

		*ret_line = line;
		if (parse_id(number, ret))
			return 0;
	}
	return error_set(err, ERR_USAGE, "the image has no %s '%.64s'; give a number", what, word);
}

int image_user(const struct image *i, const char *user, uint32_t *ret_uid, uint32_t *ret_gid,
	struct error *err)
{
	autofree char *word = mem_strdup(user ? user : i->config.user ? i->config.user : "0");
	autofree char *passwd = NULL, *groups = NULL, *own = NULL;
	char *group = strchr(word, ':');
	const char *line;

	if (group)
		*group++ = '\0';
	if (read_table(i, "etc/passwd", &passwd, err) < 0 ||
		read_table(i, "etc/group", &groups, err) < 0 ||
		find_id(passwd, word, "user", ret_uid, &line, err) < 0)
		return -1;
	if (group && *group)
		return find_id(groups, group, "group", ret_gid, &line, err);
	/* Of a number that passwd does not know, docker makes group 0. */
	*ret_gid = 0;
	if (line) {
		own = field(line, 3);
		if (!parse_id(own, ret_gid))
			*ret_gid = 0;
	}
	return 0;
}
