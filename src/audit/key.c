/* SPDX-License-Identifier: Apache-2.0 */
/* The key of the chain: 32 random bytes as 64 hex digits, which are the key as they stand. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/inside.h"
#include "base/dir.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/random.h"
#include "crypto/key.h"

/*
 * Whole under its name at once, whoever makes it at the same moment: a link never replaces what is
 * there.
 */
static int make(const char *path, struct error *err)
{
	char text[AUDIT_KEY_SIZE + 1], temp[64];
	autofree char *dir = path_dirname(path);
	autoclose int at = -1, fd = -1;
	int r = 0;

	if (dir_make(dir, err) < 0)
		return -1;
	at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return error_sys(err, "open '%s'", dir);
	memcpy(temp, ".key-", 5);
	random_hex(temp + 5, 16);
	random_hex(text, AUDIT_KEY_SIZE);
	fd = openat(at, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_sys(err, "make a file in '%s'", dir);
	text[AUDIT_KEY_SIZE] = '\n';
	if (fchmod(fd, 0600) < 0 || fd_write_all(fd, text, sizeof(text), err) < 0 ||
		fsync(fd) < 0 ||
		(linkat(at, temp, at, path_basename(path), 0) < 0 && errno != EEXIST))
		r = error_sys(err, "make '%s'", path);
	unlinkat(at, temp, 0);
	if (r == 0 && fsync(at) < 0)
		r = error_sys(err, "sync '%s'", dir);
	return r;
}

int audit_key_read(
	const char *path, enum audit_mode mode, char ret[AUDIT_KEY_SIZE], struct error *err)
{
	autoclose int fd = -1;
	autofree char *tidy = path_tidy(path), *text = NULL;
	size_t len;

	if (mode == AUDIT_APPEND && faccessat(AT_FDCWD, tidy, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
		errno == ENOENT && make(tidy, err) < 0)
		return -1;
	if (key_file_open(AT_FDCWD, tidy, &fd, err) < 0)
		return -1;
	if (fd_slurp(fd, 4096, &text, &len, err) < 0)
		return error_wrap(err, "key file '%s'", tidy);
	if (len == AUDIT_KEY_SIZE + 1 && text[AUDIT_KEY_SIZE] == '\n')
		len--;
	if (len != AUDIT_KEY_SIZE || strspn(text, "0123456789abcdef") != AUDIT_KEY_SIZE) {
		explicit_bzero(text, len);
		return error_set(
			err, ERR_FORMAT, "key file '%s' does not hold 64 hex digits", tidy);
	}
	memcpy(ret, text, AUDIT_KEY_SIZE);
	explicit_bzero(text, len);
	return 0;
}
