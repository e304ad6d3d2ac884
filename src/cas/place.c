/* SPDX-License-Identifier: Apache-2.0 */
/* Where things lie in a store, and the ways to open, make and put them there: see inside.h. */
#include "cas/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/fd.h"
#include "base/random.h"

int cas_digest_find(const char *text, char ret[DIGEST_TEXT])
{
	if (strncmp(text, "sha256:", 7) == 0)
		text += 7;
	if (strlen(text) != CAS_HEX || strspn(text, "0123456789abcdef") != CAS_HEX)
		return 0;
	snprintf(ret, DIGEST_TEXT, "sha256:%s", text);
	return 1;
}

int cas_digest_parse(const char *text, char ret[DIGEST_TEXT], struct error *err)
{
	if (!cas_digest_find(text, ret))
		return error_set(err, ERR_USAGE,
			"'%.80s' is not a digest: sha256: and 64 digits of 0-9 a-f", text);
	return 0;
}

const char *cas_hex(const char digest[DIGEST_TEXT])
{
	return digest + 7;
}

static int open_dir(int dir, const char *name)
{
	return openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int cas_shard_open(const struct cas *c, const char *hex)
{
	char shard[3] = {hex[0], hex[1], 0};

	return open_dir(c->root, shard);
}

int cas_shard_make(struct cas *c, const char *hex, int *ret, struct error *err)
{
	char shard[3] = {hex[0], hex[1], 0};
	int fd = open_dir(c->root, shard);

	if (fd < 0 && errno == ENOENT) {
		if (fault_point("cas: make a shard") < 0 ||
			(mkdirat(c->root, shard, 0700) < 0 && errno != EEXIST))
			return error_sys(err, "make '%s' in the store", shard);
		fd = open_dir(c->root, shard);
	}
	if (fd < 0)
		return error_sys(err, "open '%s' of the store", shard);
	/* Somebody else may have made it and not synced it yet. */
	if (fault_point("cas: sync the top") < 0 || fsync(c->root) < 0) {
		fd_close(&fd);
		return error_sys(err, "sync the store");
	}
	*ret = fd;
	return 0;
}

int cas_file_open(int dir, const char *name, struct stat *ret_st)
{
	autoclose int fd =
		openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, ret_st) < 0)
		return -1;
	if (!S_ISREG(ret_st->st_mode)) {
		errno = EINVAL;
		return -1;
	}
	return take_fd(fd);
}

/* A new file that its maker holds locked: a sweeper may have been quicker with an unlocked one. */
static int make_locked(int dir, char name[CAS_RANDOM + 1], int *ret_fd, struct error *err)
{
	for (;;) {
		autoclose int fd = -1;
		struct stat st;

		random_hex(name, CAS_RANDOM);
		if (fault_point("cas: make a temporary file") < 0)
			return error_sys(err, "make a file in the store");
		fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd < 0 || fault_point("cas: lock a temporary file") < 0 ||
			flock(fd, LOCK_EX) < 0 || fstat(fd, &st) < 0) {
			int failed = error_sys(err, "make a file in the store");

			if (fd >= 0)
				unlinkat(dir, name, 0);
			return failed;
		}
		if (st.st_nlink == 0)
			continue;
		*ret_fd = take_fd(fd);
		return 0;
	}
}

int cas_tmp_make(struct cas *c, char ret_name[CAS_RANDOM + 1], int *ret_fd, struct error *err)
{
	if (c->mode != CAS_WRITE)
		return error_set(err, ERR_USAGE, "the store was opened for reading alone");
	return make_locked(c->tmp, ret_name, ret_fd, err);
}

int cas_file_replace(
	struct cas *c, int dir, const char *name, const void *data, size_t len, struct error *err)
{
	char tmp[CAS_RANDOM + 1];
	autoclose int fd = -1;

	if (cas_tmp_make(c, tmp, &fd, err) < 0)
		return -1;
	if (fault_point("cas: write a small file") < 0) {
		error_sys(err, "write");
	} else if (fd_write_all(fd, data, len, err) == 0) {
		if (fchmod(fd, 0444) == 0 && fault_point("cas: sync a small file") == 0 &&
			fsync(fd) == 0 && fault_point("cas: rename a small file") == 0 &&
			renameat(c->tmp, tmp, dir, name) == 0)
			return 0;
		error_sys(err, "put '%s' into the store", name);
	}
	unlinkat(c->tmp, tmp, 0);
	return -1;
}

int cas_lock(struct cas *c, int operation, int *ret_fd, struct error *err)
{
	autoclose int fd = openat(c->root, "lock", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int r;

	if (fd < 0)
		return error_sys(err, "open the store's lock");
	do
		r = flock(fd, operation);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return error_sys(err, "lock the store");
	*ret_fd = take_fd(fd);
	return 0;
}

int cas_pin(struct cas *c, const char *hex, struct error *err)
{
	autoclose int lock = -1;
	char line[CAS_HEX + 1];

	if (c->pin < 0 && make_locked(c->pins, c->pin_name, &c->pin, err) < 0)
		return -1;
	memcpy(line, hex, CAS_HEX);
	line[CAS_HEX] = '\n';
	if (cas_lock(c, LOCK_SH, &lock, err) < 0)
		return -1;
	if (fault_point("cas: pin") < 0)
		return error_sys(err, "pin");
	return fd_write_all(c->pin, line, sizeof(line), err);
}
