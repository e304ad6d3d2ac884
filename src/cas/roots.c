/* SPDX-License-Identifier: Apache-2.0 */
/* Names for objects that shall stay: see cas.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "cas/inside.h"
#include "cas/read.h"

enum { ROOTS_MAX = 10000000 };

int cas_root_check(const char *name, struct error *err)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789._-";
	size_t len = strlen(name);

	if (len == 0 || len > CAS_ROOT_MAX || name[0] == '.' || strspn(name, allowed) != len)
		return error_set(err, ERR_USAGE,
			"'%.140s' cannot be the name of a root: 1 to %d of A-Z a-z 0-9 . _ -, "
			"and no dot first",
			name, CAS_ROOT_MAX);
	return 0;
}

static int open_roots(struct cas *c, bool make, int *ret, struct error *err)
{
	if (make && mkdirat(c->root, "roots", 0700) < 0 && errno != EEXIST)
		return error_sys(err, "make 'roots' in the store");
	*ret = openat(c->root, "roots", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret < 0)
		return !make && errno == ENOENT ? 0 : error_sys(err, "open 'roots' of the store");
	if (make && fsync(c->root) < 0) {
		fd_close(ret);
		return error_sys(err, "sync the store");
	}
	return 0;
}

int cas_root_set(struct cas *c, const char *name, const char *digest, struct error *err)
{
	autoclose int lock = -1, dir = -1;
	char line[DIGEST_TEXT + 1], base[DIGEST_TEXT];
	int there;

	if (cas_root_check(name, err) < 0 || cas_digest_parse(digest, line, err) < 0 ||
		open_roots(c, true, &dir, err) < 0)
		return -1;
	/* No gc between the look and the root. */
	if (cas_lock(c, LOCK_SH, &lock, err) < 0)
		return -1;
	there = cas_stored_find(c, cas_hex(line), base, err);
	if (there < 0)
		return -1;
	if (there == 0)
		return error_set(err, ERR_MISSING, "no object %s for the root '%s'", line, name);
	line[DIGEST_TEXT - 1] = '\n';
	if (cas_file_replace(c, dir, name, line, DIGEST_TEXT, err) < 0)
		return -1;
	if (fault_point("cas: sync the roots") < 0 || fsync(dir) < 0)
		return error_sys(err, "sync the roots");
	return 0;
}

int cas_root_drop(struct cas *c, const char *name, struct error *err)
{
	autoclose int dir = -1;

	if (cas_root_check(name, err) < 0 || open_roots(c, false, &dir, err) < 0)
		return -1;
	if (dir < 0)
		return 0;
	if (fault_point("cas: drop a root") < 0 || unlinkat(dir, name, 0) < 0)
		return errno == ENOENT ? 0 : error_sys(err, "drop the root '%s'", name);
	if (fsync(dir) < 0)
		return error_sys(err, "sync the roots");
	return 1;
}

static int read_root(int dir, const char *name, char ret[DIGEST_TEXT], struct error *err)
{
	autofree char *text = NULL;
	autoclose int fd = -1;
	struct stat st;
	size_t len;

	fd = cas_file_open(dir, name, &st);
	if (fd < 0)
		return errno == ENOENT ? 0 : error_sys(err, "open the root '%s'", name);
	if (fd_slurp(fd, 4096, &text, &len, err) < 0)
		return error_wrap(err, "root '%s'", name);
	if (len != DIGEST_TEXT || text[len - 1] != '\n')
		return error_set(err, ERR_FORMAT, "the root '%s' holds no digest", name);
	text[len - 1] = '\0';
	if (!cas_digest_find(text, ret))
		return error_set(err, ERR_FORMAT, "the root '%s' holds no digest", name);
	return 1;
}

int cas_root_find(struct cas *c, const char *name, char ret[DIGEST_TEXT], struct error *err)
{
	autoclose int dir = -1;

	if (cas_root_check(name, err) < 0 || open_roots(c, false, &dir, err) < 0)
		return -1;
	return dir < 0 ? 0 : read_root(dir, name, ret, err);
}

int cas_roots(struct cas *c, struct cas_root **ret, size_t *ret_count, struct error *err)
{
	auto_names struct beneath_names names = {0};
	autofree struct cas_root *list = NULL;
	autoclose int dir = -1;
	size_t count = 0;

	if (open_roots(c, false, &dir, err) < 0)
		return -1;
	if (dir >= 0 && beneath_list(dir, ROOTS_MAX, &names, err) < 0)
		return -1;
	list = mem_array(names.count + 1, sizeof(*list));
	for (size_t i = 0; i < names.count; i++) {
		int found;

		if (cas_root_check(names.items[i], NULL) < 0)
			continue;
		found = read_root(dir, names.items[i], list[count].digest, err);
		if (found < 0)
			return -1;
		if (found > 0) {
			memcpy(list[count].name, names.items[i], strlen(names.items[i]) + 1);
			count++;
		}
	}
	*ret = take_ptr(list);
	*ret_count = count;
	return 0;
}
