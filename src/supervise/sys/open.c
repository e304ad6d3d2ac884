/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open family. The file is looked up before the kernel opens it: an ordinary file that is only
 * read goes on natively in one stop; one that may be written comes back to the leave handler, which
 * notes it for the logical clock; files of /proc and /sys are served or reported; what can block is
 * tightened.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "supervise/io/fifo.h"
#include "supervise/io/room.h"
#include "supervise/io/pty.h"
#include "supervise/files/ftime.h"
#include "supervise/files/known.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/main.h"
#include "supervise/engine/note.h"
#include "supervise/files/path.h"
#include "supervise/proc/procfs.h"
#include "supervise/report.h"
#include "supervise/proc/served.h"
#include "supervise/files/shared.h"
#include "supervise/engine/tighten.h"

/* One open as its call says it. */
struct opening {
	int dirfd;
	uint64_t text; /* address */
	size_t len;    /* of the text */
	uint64_t flags;
	int flags_arg; /* which argument holds the flags; -1: they are in memory */
};

/* linux/major.h: /dev/ptmx */
enum { TTYAUX_MAJOR = 5, PTMX_MINOR = 2 };

static bool is_writing(uint64_t flags)
{
	return (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC) ||
	       (flags & O_TMPFILE) == O_TMPFILE;
}

/* What the kernel would refuse is for it to say. */
static bool is_readable(const struct opening *o, const struct statx *stx)
{
	uint32_t own = stx->stx_uid == contract_get()->uid ? S_IRUSR : S_IROTH;

	return (o->flags & O_ACCMODE) == O_RDONLY && !(o->flags & (O_DIRECTORY | O_EXCL)) &&
	       stx->stx_mode & own;
}

/* A file of /proc or /sys. */
static enum act open_system(struct task *t, const struct opening *o, struct path *file)
{
	char name[PATH_MAX];
	struct note *n = NULL;

	if (!path_name(file->fd, name))
		return ACT_NATIVE;
	if (procfs_is_absent(name))
		return call_done(&t->call, -ENOENT);
	if (!(o->flags & O_PATH) && procfs_is_closed(name))
		return call_done(&t->call, -EACCES);
	if (!S_ISREG(file->stx.stx_mode) || !is_readable(o, &file->stx))
		return ACT_NATIVE;
	switch (procfs_check(name)) {
	case PROCFS_PASS:
		return ACT_NATIVE;
	case PROCFS_REFUSED:
		return call_done(&t->call, -procfs_refusal(name));
	case PROCFS_SERVE:
		break;
	case PROCFS_LIVE:
	default:
		report_not_enforced(REASON_EXTERNAL_INPUT, "read of %s", name);
		return ACT_NATIVE;
	}
	n = note_new(t);
	n->file = *file;
	file->fd = -1;
	(void)snprintf(n->served, sizeof(n->served), "%s", name);
	served_begin(t, o->text, o->len, (o->flags & O_CLOEXEC) != 0);
	return ACT_LEAVE;
}

static enum act open_device(struct task *t, const struct path *file)
{
	/* null, zero and full answer at once and the same always. */
	if (file->stx.stx_rdev_major == 1 &&
		(file->stx.stx_rdev_minor == 3 || file->stx.stx_rdev_minor == 5 ||
			file->stx.stx_rdev_minor == 7))
		return ACT_NATIVE;
	room_forget();
	tighten(t);
	if (file->stx.stx_rdev_major == TTYAUX_MAJOR && file->stx.stx_rdev_minor == PTMX_MINOR)
		pty_opened();
	return ACT_NATIVE;
}

static enum act open_fifo(struct task *t, const struct opening *o, const struct path *file)
{
	struct note *n = NULL;

	room_forget();
	switch (fifo_open(t, file, o->flags)) {
	case FIFO_PARKED:
		return ACT_PARK;
	case FIFO_NONBLOCK:
		if (o->flags_arg < 0)
			break;
		n = note_new(t);
		n->fifo = true;
		call_set_arg(t, o->flags_arg, o->flags | O_NONBLOCK);
		return ACT_LEAVE;
	case FIFO_NATIVE:
	default:
		break;
	}
	return ACT_NATIVE;
}

/* Remembers the file as it is before the kernel opens it for writing. */
static enum act open_writing(struct task *t, const struct opening *o, struct path *file)
{
	struct note *n = note_new(t);

	n->file = *file;
	file->fd = -1;
	n->flags = o->flags;
	return ACT_LEAVE;
}

static enum act open_found(struct task *t, const struct opening *o, struct path *file)
{
	uint32_t type = file->stx.stx_mode & S_IFMT;
	bool temporary = (o->flags & O_TMPFILE) == O_TMPFILE;

	if (file->kind == FS_PROC || file->kind == FS_SYS)
		return open_system(t, o, file);
	if (type == S_IFREG && is_writing(o->flags))
		return open_writing(t, o, file);
	if (type == S_IFDIR && temporary) {
		path_finish(file);
		return open_writing(t, o, file);
	}
	if (type == S_IFIFO)
		return open_fifo(t, o, file);
	if (type == S_IFCHR || type == S_IFBLK)
		return open_device(t, file);
	return ACT_NATIVE;
}

static enum act enter(struct task *t, struct opening *o)
{
	auto_path struct path file = PATH_NONE;
	char text[PATH_MAX];
	ssize_t len = 0;
	bool nofollow =
		o->flags & O_NOFOLLOW || (o->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);

	if (o->flags & O_PATH)
		return ACT_NATIVE;
	len = gmem_read_string(t, o->text, text, sizeof(text));
	if (len < 0)
		return ACT_NATIVE; /* EFAULT, ENAMETOOLONG */
	o->len = (size_t)len;
	if (!is_writing(o->flags) && known_is(text, KNOWN_OPEN))
		return ACT_NATIVE;
	if (!is_writing(o->flags) && path_look(t, o->dirfd, text, &file) &&
		(S_ISREG(file.stx.stx_mode) || S_ISDIR(file.stx.stx_mode)))
		return ACT_NATIVE;
	switch (path_find_text(t, o->dirfd, text, nofollow ? PATH_NOFOLLOW : 0, &file)) {
	case PATH_FOUND:
		return open_found(t, o, &file);
	case PATH_ERROR:
	case PATH_HIDDEN:
	case PATH_ODD:
	default:
		if (!is_writing(o->flags))
			return ACT_NATIVE;
		path_finish(&file);
		return open_writing(t, o, &file);
	}
}

enum act enter_open(struct task *t, struct call *c)
{
	struct opening o = {.dirfd = AT_FDCWD,
		.text = c->arg[0],
		.flags = c->arg[1] & 0xffffffff,
		.flags_arg = 1};

	return enter(t, &o);
}

enum act enter_creat(struct task *t, struct call *c)
{
	struct opening o = {.dirfd = AT_FDCWD,
		.text = c->arg[0],
		.flags = O_CREAT | O_WRONLY | O_TRUNC,
		.flags_arg = -1};

	return enter(t, &o);
}

enum act enter_openat(struct task *t, struct call *c)
{
	struct opening o = {.dirfd = (int)c->arg[0],
		.text = c->arg[1],
		.flags = c->arg[2] & 0xffffffff,
		.flags_arg = 2};

	return enter(t, &o);
}

enum act enter_openat2(struct task *t, struct call *c)
{
	struct open_how how;
	struct opening o = {.dirfd = (int)c->arg[0], .text = c->arg[1], .flags_arg = -1};

	if (c->arg[3] < sizeof(how) || gmem_read(t, c->arg[2], &how, sizeof(how)) != 0)
		return ACT_NATIVE; /* EINVAL, EFAULT */
	o.flags = how.flags;
	return enter(t, &o);
}

/* The directory that holds an opened file, by the file's name. */
static void parent_changed(const struct path *file)
{
	char name[PATH_MAX];
	auto_path struct path parent = PATH_NONE;

	if (path_name(file->fd, name) && path_open_above(name, &parent) == 0)
		ftime_changed(parent.fd, &parent.stx, NULL, FTIME_MTIME | FTIME_CTIME);
}

static void opened_for_writing(const struct note *n, int fd)
{
	struct path file = {.fd = fd}; /* borrowed */
	bool existed = n->file.fd >= 0;

	if (path_stat(&file) != 0 || !S_ISREG(file.stx.stx_mode) || file.kind != FS_PLAIN)
		return;
	shared_check(fd);
	if (!existed) {
		ftime_changed(fd, &file.stx, NULL, FTIME_CREATED);
		if ((n->flags & O_TMPFILE) != O_TMPFILE)
			parent_changed(&file);
		return;
	}
	if (n->flags & O_TRUNC)
		ftime_changed(fd, &file.stx, &n->file.stx, FTIME_MTIME | FTIME_CTIME);
	else if ((n->flags & O_ACCMODE) != O_RDONLY)
		ftime_writable(fd, &file.stx, &n->file.stx);
}

static void fill_served(struct task *t, struct call *c, const struct note *n)
{
	auto_bytes struct bytes content = {0};

	if (procfs_make(t, n->served, &content) != 0 ||
		served_fill(t, (int)c->result, n->served, &n->file.stx, &content) != 0)
		report_not_enforced(REASON_UNMODELLED, "cannot make the content of %s", n->served);
}

void leave_open(struct task *t, struct call *c)
{
	struct note *n = note_find(t);

	if (n == NULL)
		return;
	if (c->result >= 0 && n->served[0] != '\0') {
		fill_served(t, c, n);
	} else if (c->result >= 0) {
		autoclose int fd = task_dup_fd(t, (int)c->result);
		int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);

		if (n->fifo && flags >= 0)
			(void)fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
		else if (fd >= 0)
			opened_for_writing(n, fd);
	}
	note_free(n);
}
