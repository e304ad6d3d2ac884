/* SPDX-License-Identifier: Apache-2.0 */
/* Guest paths: see path.h. */
#include "supervise/files/path.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "supervise/engine/gmem.h"
#include "supervise/files/foreign.h"
#include "supervise/files/known.h"
#include "supervise/files/walk.h"

#define SOCKFS_FS_MAGIC 0x534f434b
#define MQUEUE_FS_MAGIC 0x19800202
#define PID_FS_MAGIC 0x50494446

enum {
	KINDS = 32, /* devices remembered */
	CWDS = 8,   /* working directories remembered */
};

static struct {
	uint32_t major, minor;
	enum fs_kind kind;
} kinds[KINDS];
static unsigned kinds_next;

/* Working directories held open: a process is known by its ordinal, since pids come again. */
static struct cwd {
	uint32_t process;
	int fd;
} cwds[CWDS];
static unsigned cwds_next;

void path_finish(struct path *p)
{
	fd_close(&p->fd);
}

static enum fs_kind kind_of_type(uint64_t type)
{
	switch (type) {
	case PROC_SUPER_MAGIC:
		return FS_PROC;
	case SYSFS_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
	case SECURITYFS_MAGIC:
	case DEBUGFS_MAGIC:
	case TRACEFS_MAGIC:
		return FS_SYS;
	case DEVPTS_SUPER_MAGIC:
	case PIPEFS_MAGIC:
	case SOCKFS_FS_MAGIC:
	case ANON_INODE_FS_MAGIC:
	case NSFS_MAGIC:
	case MQUEUE_FS_MAGIC:
	case PID_FS_MAGIC:
		return FS_FIXED;
	default:
		return FS_PLAIN;
	}
}

/* 0: not known yet. */
static enum fs_kind kind_known(const struct statx *stx)
{
	for (unsigned k = 0; k < KINDS && kinds[k].kind != 0; k++)
		if (kinds[k].minor == stx->stx_dev_minor && kinds[k].major == stx->stx_dev_major)
			return kinds[k].kind;
	return 0;
}

static enum fs_kind kind_of(int fd, const struct statx *stx)
{
	enum fs_kind known = kind_known(stx);
	struct statfs fs;
	unsigned at = 0;

	if (known != 0)
		return known;
	if (fstatfs(fd, &fs) != 0)
		return FS_PLAIN;
	at = kinds_next++ % KINDS;
	kinds[at].major = stx->stx_dev_major;
	kinds[at].minor = stx->stx_dev_minor;
	kinds[at].kind = kind_of_type((uint64_t)fs.f_type & 0xffffffff);
	return kinds[at].kind;
}

/* What the set-up laid over files of /proc is a file without a name on another file system. */
static bool is_mask(const struct path *p)
{
	static const char proc[] = "/proc/";
	char name[PATH_MAX];

	return p->stx.stx_nlink == 0 && path_name(p->fd, name) &&
	       strncmp(name, proc, sizeof(proc) - 1) == 0;
}

int path_stat(struct path *p)
{
	if (statx(p->fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID,
		    &p->stx) != 0)
		return -1;
	p->kind = kind_of(p->fd, &p->stx);
	if (p->kind == FS_PLAIN && is_mask(p))
		p->kind = FS_PROC;
	return 0;
}

void path_init(void)
{
	for (unsigned k = 0; k < CWDS; k++)
		cwds[k] = (struct cwd){0, -1};
}

void path_cwd_changed(struct task *t)
{
	(void)t; /* CLONE_FS lets processes share one, so all are forgotten; it is a rare call */
	for (unsigned k = 0; k < CWDS; k++) {
		fd_close(&cwds[k].fd);
		cwds[k].process = 0;
	}
}

/* The guest's working directory, borrowed; -1 with errno. */
static int cwd_fd(struct task *t)
{
	char link[32];
	struct cwd *c = NULL;

	for (unsigned k = 0; k < CWDS; k++)
		if (cwds[k].process == t->proc->ordinal)
			return cwds[k].fd;
	(void)snprintf(link, sizeof(link), "/proc/%d/cwd", t->tid);
	c = &cwds[cwds_next++ % CWDS];
	fd_close(&c->fd);
	c->fd = open(link, O_PATH | O_DIRECTORY | O_CLOEXEC);
	c->process = c->fd < 0 ? 0 : t->proc->ordinal;
	return c->fd;
}

static int open_path(int base, const char *text, uint64_t flags, uint64_t resolve)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC | flags, .resolve = resolve};

	return (int)syscall(SYS_openat2, base, text, &how, sizeof(how));
}

/* Splits the last component off. False when a part is too long. */
static bool split_last(const char *text, char ret_parent[PATH_MAX], char ret_last[NAME_MAX + 1])
{
	size_t end = strlen(text), start = 0;

	while (end > 1 && text[end - 1] == '/')
		end--;
	for (start = end; start > 0 && text[start - 1] != '/';)
		start--;
	if (start >= PATH_MAX - 1 || end - start > NAME_MAX)
		return false;
	memcpy(ret_last, text + start, end - start);
	ret_last[end - start] = '\0';
	memcpy(ret_parent, start == 0 ? "." : text, start == 0 ? 1 : start);
	ret_parent[start == 0 ? 1 : start] = '\0';
	return true;
}

/* The name is missing from a directory that was reached without a link of /proc. */
static bool is_missing_there(int base, const char *text)
{
	char parent[PATH_MAX], last[NAME_MAX + 1];
	auto_path struct path at = PATH_NONE;
	autoclose int there = -1; /* a link that leads nowhere */

	if (!split_last(text, parent, last))
		return false;
	at.fd = open_path(base, parent, O_DIRECTORY, RESOLVE_NO_MAGICLINKS);
	if (at.fd < 0 || path_stat(&at) != 0 || at.kind == FS_PROC)
		return false;
	there = open_path(at.fd, last, O_NOFOLLOW, 0);
	return there < 0 && errno == ENOENT;
}

/* Whether a failed resolution failed the same way for the guest: nothing of /proc was met. */
static bool is_sure_error(int base, const char *text, uint64_t nofollow, int error)
{
	struct path at = {.fd = base};
	autoclose int found = -1;
	int again = 0;

	if (error != ENOENT && error != ENOTDIR && error != EACCES)
		return false;
	if (strstr(text, "proc") != NULL)
		return error == ENOENT && is_missing_there(base, text);
	if (text[0] != '/' && (path_stat(&at) != 0 || at.kind == FS_PROC))
		return false;
	found = open_path(base, text, nofollow, RESOLVE_NO_SYMLINKS);
	again = found < 0 ? errno : 0;
	if (again == ELOOP && error == ENOENT)
		return is_missing_there(base, text);
	return again == error;
}

/* It was reached through nothing of /proc that is another thing to another process. */
static void note_known(const char *text, bool nofollow, const struct path *found)
{
	bool plain = S_ISREG(found->stx.stx_mode) || S_ISDIR(found->stx.stx_mode);

	if (found->kind == FS_PLAIN)
		known_add(text, (nofollow ? KNOWN_LINK : 0) | (plain ? KNOWN_OPEN : 0));
}

/* What the runtime put there: found, and not shown. Links that lead to it are nobody's. */
static bool is_hidden(int base, const char *text)
{
	char parent[PATH_MAX], last[NAME_MAX + 1], name[PATH_MAX], whole[PATH_MAX + NAME_MAX + 2];
	autoclose int above = -1;

	if (!split_last(text, parent, last) || !foreign_is_name(last))
		return false;
	above = open_path(base, parent, O_DIRECTORY, RESOLVE_NO_MAGICLINKS);
	if (above < 0 || !path_name(above, name))
		return false;
	(void)snprintf(whole, sizeof(whole), "%s/%s", strcmp(name, "/") == 0 ? "" : name, last);
	return foreign_is_hidden(whole);
}

static enum path_answer find_from(
	struct task *t, int base, const char *text, unsigned flags, struct path *ret)
{
	uint64_t nofollow = flags & PATH_NOFOLLOW ? O_NOFOLLOW : 0;

	ret->fd = open_path(base, text, nofollow, RESOLVE_NO_MAGICLINKS);
	if (ret->fd >= 0 && is_hidden(base, text)) {
		fd_close(&ret->fd);
		ret->error = ENOENT;
		return PATH_HIDDEN;
	}
	if (ret->fd < 0) {
		ret->error = errno;
		if (is_sure_error(base, text, nofollow, ret->error)) {
			if (ret->error == ENOENT)
				known_add(text, KNOWN_LINK | KNOWN_OPEN);
			return PATH_ERROR;
		}
	} else if (path_stat(ret) != 0) {
		return PATH_ODD;
	} else if (ret->kind != FS_PROC) {
		note_known(text, nofollow != 0, ret);
		return PATH_FOUND;
	}
	/* /proc/self was ours, or the walk through a link of /proc was refused. */
	fd_close(&ret->fd);
	ret->fd = walk_path(t, base, text, nofollow != 0);
	if (ret->fd < 0) {
		ret->error = errno;
		return PATH_ODD;
	}
	return path_stat(ret) == 0 ? PATH_FOUND : PATH_ODD;
}

enum path_answer path_find_fd(struct task *t, int fd, struct path *ret)
{
	*ret = PATH_NONE;
	if (fd == AT_FDCWD) {
		int cwd = cwd_fd(t);

		ret->fd = cwd < 0 ? -1 : fcntl(cwd, F_DUPFD_CLOEXEC, 0);
	} else {
		ret->fd = task_dup_fd(t, fd);
	}
	if (ret->fd < 0) {
		ret->error = errno;
		return PATH_ODD; /* EBADF; or its thread group has lost its leader */
	}
	return path_stat(ret) == 0 ? PATH_FOUND : PATH_ODD;
}

/* Where a path that is not absolute starts: *ret_base, or -1; what is to be closed goes to
 * *ret_own. */
static int base_of(struct task *t, int dirfd, const char *text, int *ret_own)
{
	if (text[0] == '/')
		return AT_FDCWD;
	if (dirfd == AT_FDCWD)
		return cwd_fd(t);
	*ret_own = task_dup_fd(t, dirfd);
	return *ret_own;
}

enum path_answer path_find_text(
	struct task *t, int dirfd, const char *text, unsigned flags, struct path *ret)
{
	autoclose int own = -1;
	int base = -1;

	*ret = PATH_NONE;
	if (text[0] == '\0') {
		if (flags & PATH_EMPTY)
			return path_find_fd(t, dirfd, ret);
		ret->error = ENOENT;
		return PATH_ERROR;
	}
	base = base_of(t, dirfd, text, &own);
	if (base == -1) {
		ret->error = errno;
		return PATH_ODD; /* as in path_find_fd */
	}
	return find_from(t, base, text, flags, ret);
}

bool path_look(struct task *t, int dirfd, const char *text, struct path *ret)
{
	autoclose int own = -1;
	int base = -1;

	*ret = PATH_NONE;
	if (text[0] == '\0' || strchr(text, '/') != NULL || foreign_is_name(text))
		return false;
	base = base_of(t, dirfd, text, &own);
	if (base == -1 || statx(base, text, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
				  STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID, &ret->stx) != 0)
		return false;
	ret->kind = kind_known(&ret->stx);
	return ret->kind == FS_PLAIN && ret->stx.stx_nlink != 0 && !S_ISLNK(ret->stx.stx_mode);
}

static enum path_answer find(
	struct task *t, int dirfd, uint64_t addr, unsigned flags, bool look, struct path *ret)
{
	char text[PATH_MAX];
	ssize_t len = 0;

	*ret = PATH_NONE;
	/* Since Linux 6.11 a null pointer is an empty path; before it was EFAULT. */
	if (addr == 0)
		return flags & PATH_EMPTY ? PATH_ODD : PATH_ERROR;
	len = gmem_read_string(t, addr, text, sizeof(text));
	if (len < 0) {
		ret->error = (int)-len;
		return PATH_ERROR;
	}
	if (look && path_look(t, dirfd, text, ret))
		return PATH_FOUND;
	return path_find_text(t, dirfd, text, flags, ret);
}

enum path_answer path_find(
	struct task *t, int dirfd, uint64_t addr, unsigned flags, struct path *ret)
{
	return find(t, dirfd, addr, flags, false, ret);
}

enum path_answer path_find_state(
	struct task *t, int dirfd, uint64_t addr, unsigned flags, struct path *ret)
{
	return find(t, dirfd, addr, flags, true, ret);
}

enum path_answer path_find_parent(
	struct task *t, int dirfd, const char *text, struct path *ret, char ret_last[NAME_MAX + 1])
{
	char parent[PATH_MAX];

	*ret = PATH_NONE;
	if (!split_last(text, parent, ret_last))
		return PATH_ODD;
	return path_find_text(t, dirfd, parent, 0, ret);
}

int path_open_above(char name[PATH_MAX], struct path *ret)
{
	char *slash = strrchr(name, '/');

	if (slash == NULL)
		return -1;
	slash[slash == name ? 1 : 0] = '\0';
	ret->fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return ret->fd < 0 ? -1 : path_stat(ret);
}

bool path_name(int fd, char ret_name[PATH_MAX])
{
	static const char deleted[] = " (deleted)", proc[] = "/proc/";
	char link[32];
	ssize_t len = 0;
	char *tail = NULL;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, ret_name, PATH_MAX - 1);
	if (len <= 0 || ret_name[0] != '/')
		return false;
	ret_name[len] = '\0';
	if ((size_t)len < sizeof(deleted))
		return true;
	tail = ret_name + len - (sizeof(deleted) - 1);
	if (memcmp(tail, deleted, sizeof(deleted) - 1) != 0)
		return true;
	/* A mask over a file of the whole system has a place, if no name of its own. */
	*tail = '\0';
	return strncmp(ret_name, proc, sizeof(proc) - 1) == 0 &&
	       !isdigit((unsigned char)ret_name[sizeof(proc) - 1]);
}
