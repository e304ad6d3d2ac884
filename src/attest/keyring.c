/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of the signing key: see keyring.h. */
#include "attest/keyring.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fault.h"
#include "base/dir.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/random.h"

#define PRIVATE "signing.pem"
#define NEXT "next.pem"
#define SET "jwks.json"

enum { SET_MAX = 1 << 20 };

/* The directory for a change: made, and locked until the descriptor is closed. */
static int open_locked(const char *dir, int *ret, struct error *err)
{
	autoclose int fd = -1;

	if (dir_make(dir, err) < 0)
		return -1;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, "open '%s'", dir);
	if (flock(fd, LOCK_EX) < 0)
		return error_sys(err, "lock '%s'", dir);
	*ret = take_fd(fd);
	return 0;
}

static int read_set(int dir, json_t **ret, struct error *err)
{
	struct stat st;
	autoclose int fd = beneath_open_file(dir, SET, &st);
	autofree char *text = NULL;
	auto_json json_t *set = NULL;
	size_t len;

	if (fd < 0 && errno == ENOENT) {
		*ret = json_object();
		json_put(*ret, "keys", json_array());
		return 0;
	}
	if (fd < 0)
		return error_sys(err, "open '%s'", SET);
	if (fd_slurp(fd, SET_MAX, &text, &len, err) < 0 ||
		json_read(text, len, SET_MAX, &set, err) < 0)
		return error_wrap(err, "'%s'", SET);
	if (!json_is_array(json_object_get(set, "keys")))
		return error_set(err, ERR_FORMAT, "'%s' is no JSON Web Key Set", SET);
	*ret = take_ptr(set);
	return 0;
}

static int write_set(int dir, const json_t *set, struct error *err)
{
	char temp[32] = ".jwks-";
	autofree char *text = json_text(set);
	autoclose int fd = -1;

	random_hex(temp + 6, 16);
	fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return error_sys(err, "write '%s'", SET);
	if (fd_write_all(fd, text, strlen(text), err) < 0 || fd_write_all(fd, "\n", 1, err) < 0 ||
		fsync(fd) < 0 || renameat(dir, temp, dir, SET) < 0 || fsync(dir) < 0) {
		error_fill_sys(err, "write '%s'", SET);
		unlinkat(dir, temp, 0);
		return -1;
	}
	return 0;
}

/* The newest first; once. */
static int add_to_set(int dir, const struct key_public *p, struct error *err)
{
	auto_json json_t *set = NULL, *key = jwk_of(p);
	char id[KEY_ID_SIZE];
	struct key_public same;
	int found;

	key_id(p, id);
	if (read_set(dir, &set, err) < 0)
		return -1;
	found = jwks_find(set, id, &same, err);
	if (found != 0)
		return found < 0 ? error_wrap(err, "'%s'", SET) : 0;
	if (json_array_insert(json_object_get(set, "keys"), 0, key) < 0)
		return error_set(err, ERR_FORMAT, "'%s' takes no key", SET);
	return write_set(dir, set, err);
}

/* A new key, from nothing to its place. */
static int install(int dir, const char *passphrase, struct key_public *ret, struct error *err)
{
	auto_key struct key *k = NULL;

	if (key_new(&k, err) < 0)
		return -1;
	/* Of a rotation that was killed: it is in the set, and never signed anything. */
	if (unlinkat(dir, NEXT, 0) < 0 && errno != ENOENT)
		return error_sys(err, "remove '%s'", NEXT);
	key_public(k, ret);
	if (key_write(k, dir, NEXT, passphrase, err) < 0)
		return -1;
	if (fault_point("key: set") < 0)
		return error_sys(err, "write '%s'", SET);
	if (add_to_set(dir, ret, err) < 0)
		return -1;
	if (fault_point("key: rename") < 0 || renameat(dir, NEXT, dir, PRIVATE) < 0 ||
		fsync(dir) < 0)
		return error_sys(err, "put the key in its place");
	return 0;
}

int keyring_make(const char *dir, const char *passphrase, struct key_public *ret, struct error *err)
{
	autoclose int fd = -1;

	if (open_locked(dir, &fd, err) < 0)
		return -1;
	if (faccessat(fd, PRIVATE, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return error_set(err, ERR_USAGE,
			"there is a key in '%s' already; 'key show' tells which, 'key rotate' "
			"makes "
			"another",
			dir);
	return install(fd, passphrase, ret, err);
}

static int in_use(int dir, struct key_public *ret, struct error *err)
{
	if (faccessat(dir, PRIVATE, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : error_sys(err, "look for '%s'", PRIVATE);
	return key_read_public(dir, PRIVATE, ret, err) < 0 ? -1 : 1;
}

int keyring_rotate(const char *dir, const char *passphrase, struct key_public *ret,
	struct key_public *ret_old, struct error *err)
{
	autoclose int fd = -1;
	struct key_public old;
	int there;

	if (open_locked(dir, &fd, err) < 0)
		return -1;
	there = in_use(fd, &old, err);
	if (there < 0)
		return -1;
	if (there == 0)
		return error_set(err, ERR_MISSING,
			"there is no key to be replaced; 'key new' makes the first");
	if (install(fd, passphrase, ret, err) < 0)
		return -1;
	if (ret_old)
		*ret_old = old;
	return 0;
}

int keyring_open(const char *dir, const char *path, key_ask *ask, void *context, struct key **ret,
	struct error *err)
{
	autoclose int fd = -1;

	if (path)
		return key_read(AT_FDCWD, path, ask, context, ret, err);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && key_read(fd, PRIVATE, ask, context, ret, err) == 0)
		return 0;
	if (fd < 0 ? errno == ENOENT : err->code == ERR_MISSING)
		return error_set(err, ERR_MISSING,
			"there is no signing key; 'sandglass key new' makes one, and SANDGLASS_KEY "
			"may name a file");
	return fd < 0 ? error_sys(err, "open '%s'", dir) : -1;
}

int keyring_public(const char *dir, struct key_public *ret, struct error *err)
{
	autoclose int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0 : error_sys(err, "open '%s'", dir);
	return in_use(fd, ret, err);
}

int keyring_jwks(const char *dir, json_t **ret, struct error *err)
{
	autoclose int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT) {
		*ret = json_object();
		json_put(*ret, "keys", json_array());
		return 0;
	}
	return fd < 0 ? error_sys(err, "open '%s'", dir) : read_set(fd, ret, err);
}
