/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock: see landlock.h. The numbers are from landlock(7); the headers may be older than the
 * kernel. */
#include "launch/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

/* ABI 3 (Linux 6.2), and the two scopes of ABI 6 (Linux 6.12). */
#define ACCESS_TRUNCATE (1ull << 14)
#define SCOPE_ABSTRACT_UNIX_SOCKET (1ull << 0)
#define SCOPE_SIGNAL (1ull << 1)

#define ACCESS_FILE LANDLOCK_ACCESS_FS_WRITE_FILE
#define ACCESS_DIR \
	(LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | \
		LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | \
		LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | \
		LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | \
		LANDLOCK_ACCESS_FS_MAKE_SYM)

struct ruleset_attr {
	uint64_t handled_access_fs, handled_access_net, scoped;
};

static long abi(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

static uint64_t file_rights(void)
{
	return ACCESS_FILE | (abi() >= 3 ? ACCESS_TRUNCATE : 0);
}

static uint64_t all_rights(void)
{
	/* Without REFER every rename into another directory would be refused. */
	return file_rights() | ACCESS_DIR | (abi() >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0);
}

bool landlock_is_there(void)
{
	/* ABI 1 refuses every rename between directories, whatever the rules say: unusable. */
	return abi() >= 2;
}

int landlock_new(int *ret_fd, struct error *err)
{
	struct ruleset_attr attr = {0};
	long fd;

	*ret_fd = -1;
	if (!landlock_is_there())
		return 0;
	attr.handled_access_fs = all_rights();
	if (abi() >= 6)
		attr.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
	fd = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (fd < 0)
		return error_sys(err, "make a Landlock ruleset");
	*ret_fd = (int)fd;
	return 0;
}

static int add_rule(int ruleset, int fd, uint64_t rights, struct error *err)
{
	struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = fd};

	/* EBADFD: the file is not in a file system that rules are about (a pipe, a socket). */
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0 &&
		errno != EBADFD)
		return error_sys(err, "add a Landlock rule");
	return 0;
}

int landlock_allow(int ruleset, const char *path, struct error *err)
{
	autoclose int fd = -1;
	struct stat st;

	if (ruleset < 0)
		return 0;
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return errno == ENOENT ? 0 : error_sys(err, "open '%s' for Landlock", path);
	return add_rule(ruleset, fd, S_ISDIR(st.st_mode) ? all_rights() : file_rights(), err);
}

int landlock_allow_tree(int ruleset, int fd, struct error *err)
{
	return ruleset < 0 || fd < 0 ? 0 : add_rule(ruleset, fd, all_rights(), err);
}

int landlock_allow_file(int ruleset, int fd, struct error *err)
{
	struct stat st;

	if (ruleset < 0 || fstat(fd, &st) < 0 || S_ISDIR(st.st_mode))
		return 0;
	/* What came read-only must not become writable through /proc/self/fd. */
	if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
		return 0;
	return add_rule(ruleset, fd, file_rights(), err);
}

int landlock_enforce(int ruleset, struct error *err)
{
	if (ruleset >= 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return error_sys(err, "enforce Landlock");
	return 0;
}
