/* SPDX-License-Identifier: Apache-2.0 */
/* readlink: the links of /proc/PID/fd and ns name inodes of the host, and our stand-ins. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/files/inode.h"
#include "supervise/files/known.h"
#include "supervise/engine/note.h"
#include "supervise/files/path.h"
#include "supervise/proc/served.h"
#include "supervise/sys/timerfd.h"

static enum act enter(struct task *t, int dirfd, uint64_t addr)
{
	char text[PATH_MAX];
	enum path_answer found;
	struct note *n;

	/* Of a null pointer the kernel knows what it is: that changed in 6.11. */
	if (addr == 0 || gmem_read_string(t, addr, text, sizeof(text)) < 0 ||
		known_is(text, KNOWN_LINK))
		return ACT_NATIVE;
	n = note_new(t);
	found = path_find_text(t, dirfd, text, PATH_NOFOLLOW | PATH_EMPTY, &n->file);
	if (found == PATH_FOUND && n->file.kind == FS_PROC)
		return ACT_LEAVE;
	note_free(n);
	return ACT_NATIVE;
}

enum act enter_readlink(struct task *t, struct call *c)
{
	return enter(t, AT_FDCWD, c->arg[0]);
}

enum act enter_readlinkat(struct task *t, struct call *c)
{
	return enter(t, (int)c->arg[0], c->arg[1]);
}

/* "pipe:[1234]": where the number begins, or NULL. */
static const char *numbered(const char *text)
{
	const char *at = text + strspn(text, "abcdefghijklmnopqrstuvwxyz_");

	return at > text && strncmp(at, ":[", 2) == 0 && isdigit((unsigned char)at[2]) ? at + 2
										       : NULL;
}

/* "/dir/#1234 (deleted)", a file of O_TMPFILE: its own inode number is in the name. */
static bool nameless(char text[PATH_MAX], uint32_t number)
{
	char *last = strrchr(text, '/');
	size_t digits = 0;

	if (last == NULL || last[1] != '#')
		return false;
	digits = strspn(last + 2, "0123456789");
	if (digits == 0 || strcmp(last + 2 + digits, " (deleted)") != 0)
		return false;
	(void)snprintf(last + 2, 32, "%u (deleted)", number);
	return true;
}

/* What the link shows instead of the kernel's text: its length, or 0 when that stays. */
static size_t shown(const struct path *link, char text[PATH_MAX])
{
	char name[PATH_MAX];
	const char *number = NULL;
	const struct served *served = NULL;
	struct statx stx;
	ssize_t len = 0;

	if (!path_name(link->fd, name) ||
		statx(AT_FDCWD, name, 0, STATX_BASIC_STATS | STATX_BTIME, &stx) != 0)
		return 0;
	len = readlink(name, text, PATH_MAX - 64);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	served = served_find(&stx);
	if (stx.stx_nlink == 0 && nameless(text, inode_get(&stx)->number))
		return strlen(text);
	number = numbered(text);
	if (served != NULL)
		(void)snprintf(text, PATH_MAX, "%s", served->path);
	else if (strcmp(text, "anon_inode:[eventfd]") == 0 && timerfd_is_linked(name))
		(void)snprintf(text, PATH_MAX, "anon_inode:[timerfd]");
	else if (number != NULL)
		(void)snprintf(text + (number - text), 32, "%u]", inode_get(&stx)->number);
	else
		return 0;
	return strlen(text);
}

static void rewrite(struct task *t, struct call *c, uint64_t buffer, uint64_t size)
{
	struct note *n = note_find(t);
	char text[PATH_MAX];
	size_t len = 0;

	if (n == NULL)
		return;
	if (c->result > 0)
		len = shown(&n->file, text);
	note_free(n);
	if (len == 0)
		return;
	len = len < size ? len : size;
	c->result = gmem_write(t, buffer, text, len) == 0 ? (int64_t)len : -EFAULT;
}

void leave_readlink(struct task *t, struct call *c)
{
	rewrite(t, c, c->arg[1], c->arg[2] & 0xffffffff);
}

void leave_readlinkat(struct task *t, struct call *c)
{
	rewrite(t, c, c->arg[2], c->arg[3] & 0xffffffff);
}
