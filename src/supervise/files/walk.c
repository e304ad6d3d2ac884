/* SPDX-License-Identifier: Apache-2.0 */
/* The slow walk of a path: see walk.h. */
#include "supervise/files/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "supervise/files/path.h"

enum { LINKS_MAX = 40 }; /* the kernel's MAXSYMLINKS */

/* The walk so far: the directory reached and the text that is left. */
struct walk {
	struct task *task;
	int at;
	int links;
	bool nofollow;
	char rest[2 * PATH_MAX];
};

static int open_one(int at, const char *name)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW, .resolve = RESOLVE_NO_MAGICLINKS};

	return (int)syscall(SYS_openat2, at, name, &how, sizeof(how));
}

/* Splits the first component off; false at the end. *ret_last: nothing but it was left. */
static bool take_component(struct walk *w, char ret_name[NAME_MAX + 1], bool *ret_last)
{
	char *from = w->rest + strspn(w->rest, "/");
	size_t len = strcspn(from, "/");

	if (len == 0)
		return false;
	if (len > NAME_MAX) {
		errno = ENAMETOOLONG;
		ret_name[0] = '\0';
		return true;
	}
	memcpy(ret_name, from, len);
	ret_name[len] = '\0';
	*ret_last = from[len] == '\0';
	memmove(w->rest, from + len, strlen(from + len) + 1);
	return true;
}

/* /proc/self and /proc/thread-self name the reader; the text of the link as the task reads it. */
static bool own_link(struct walk *w, const char *name, char *ret_text, size_t size)
{
	char reached[PATH_MAX];

	if (strcmp(name, "self") != 0 && strcmp(name, "thread-self") != 0)
		return false;
	if (!path_name(w->at, reached) || strcmp(reached, "/proc") != 0)
		return false;
	if (name[0] == 's')
		(void)snprintf(ret_text, size, "%d", w->task->proc->pid);
	else
		(void)snprintf(ret_text, size, "%d/task/%d", w->task->proc->pid, w->task->tid);
	return true;
}

/* Inside the directory of init (ourselves) the guest meets permissions that we would not. */
static bool is_in_init(const struct walk *w, const char *name)
{
	static const char own[] = "/proc/1", thread[] = "/task/1";
	char reached[PATH_MAX];
	const char *rest = reached + sizeof(own) - 1;
	struct stat st;

	if (!path_name(w->at, reached) || strncmp(reached, own, sizeof(own) - 1) != 0 ||
		(*rest != '\0' && *rest != '/'))
		return false;
	if (strncmp(rest, thread, sizeof(thread) - 1) == 0)
		rest += sizeof(thread) - 1;
	/* Its descriptors and the like; threads, sockets and attributes are for everybody. */
	if (*rest != '\0' && strcmp(rest, "/task") != 0 && strncmp(rest, "/net", 4) != 0 &&
		strcmp(rest, "/attr") != 0)
		return true;
	return fstatat(w->at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
}

/* A magic link of /proc does not go by its text. The only others there stand in its root. */
static bool is_magic(const struct path *link, const char *name)
{
	return link->kind == FS_PROC && strcmp(name, "mounts") != 0 && strcmp(name, "net") != 0;
}

/* Puts the text of a link before what is left. 0 or -1 with errno. */
static int go_by_text(struct walk *w, const char *text)
{
	char joined[sizeof(w->rest)];

	if ((size_t)snprintf(joined, sizeof(joined), "%s%s", text, w->rest) >= sizeof(joined)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(w->rest, joined, strlen(joined) + 1);
	if (text[0] == '/') {
		fd_close(&w->at);
		w->at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	return w->at < 0 ? -1 : 0;
}

/* Goes on where the symbolic link `fd`, found as `name`, points. 0 or -1 with errno. */
static int follow(struct walk *w, const char *name, int fd)
{
	char text[PATH_MAX];
	struct path link = {.fd = fd}; /* borrowed */
	ssize_t len = 0;

	if (++w->links > LINKS_MAX) {
		errno = ELOOP;
		return -1;
	}
	if (path_stat(&link) != 0)
		return -1;
	if (own_link(w, name, text, sizeof(text)))
		return go_by_text(w, text);
	if (is_magic(&link, name)) {
		int jumped = openat(w->at, name, O_PATH | O_CLOEXEC);

		if (jumped < 0)
			return -1;
		fd_close(&w->at);
		w->at = jumped;
		return 0;
	}
	len = readlinkat(fd, "", text, sizeof(text) - 1);
	if (len < 0)
		return -1;
	text[len] = '\0';
	return go_by_text(w, text);
}

/* One component. 0 or -1 with errno. */
static int step(struct walk *w, const char *name, bool last)
{
	autoclose int fd = -1;
	struct stat st;

	if (name[0] == '\0')
		return -1;
	if (is_in_init(w, name)) {
		errno = EACCES;
		return -1;
	}
	fd = open_one(w->at, name);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) != 0)
		return -1;
	if (S_ISLNK(st.st_mode) && !(last && w->nofollow && w->rest[0] == '\0'))
		return follow(w, name, fd);
	if (w->rest[0] != '\0' && !S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		return -1;
	}
	fd_close(&w->at);
	w->at = take_fd(fd);
	return 0;
}

int walk_path(struct task *t, int base, const char *text, bool nofollow)
{
	struct walk w = {.task = t, .nofollow = nofollow, .at = -1};
	char name[NAME_MAX + 1];
	bool last = false;

	if (strlen(text) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(w.rest, text, strlen(text) + 1);
	w.at = text[0] == '/' ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)
			      : fcntl(base, F_DUPFD_CLOEXEC, 0);
	if (w.at < 0)
		return -1;
	while (take_component(&w, name, &last))
		if (step(&w, name, last) != 0) {
			fd_cleanup(&w.at);
			return -1;
		}
	return w.at;
}
