/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories laid over each other: see overlay.h.
 *
 * How it works. A forked holder makes a user and a mount namespace, lays the overlay in it and
 * sends a detached copy of the mount; then it waits for the end of the link, which comes with the
 * caller's death at the latest. Whoever comes while one is there enters the namespaces of that
 * one, by the pid and birth that the file of holders has. The kernel keeps what is laid while
 * anybody is in the namespace or holds a copy, and no longer.
 *
 * As root the layers are id-mapped, from their owner to the guest's id, which is the only one that
 * the user namespace has. Without privileges that is the caller's own id.
 */
#include "sandbox/overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/proc.h"
#include "base/str.h"
#include "launch/idmap.h"
#include "launch/link.h"
#include "launch/mounts.h"

enum { HOLDERS_MAX = 64 * 1024 };

/* What the holder needs, opened before the fork as far as the caller alone may. */
struct laying {
	const struct overlay_spec *spec;
	struct idmap ids;
	struct stat owner;
	int trees[OVERLAY_LAYERS_MAX + 1]; /* the lower ones, then upper; -1: the holder opens it */
};

static void laying_finish(struct laying *l)
{
	for (size_t i = 0; i <= OVERLAY_LAYERS_MAX; i++)
		fd_close(&l->trees[i]);
}

static const char *layer_path(const struct overlay_spec *spec, size_t i)
{
	return i < spec->lower_count ? spec->lower[i] : spec->upper;
}

static int laying_init(struct laying *l, const struct overlay_spec *spec, struct error *err)
{
	*l = (struct laying){.spec = spec, .ids = idmap_choose()};
	for (size_t i = 0; i <= OVERLAY_LAYERS_MAX; i++)
		l->trees[i] = -1;
	if (spec->lower_count > OVERLAY_LAYERS_MAX)
		return error_set(err, ERR_LIMIT, "more than %d layers", OVERLAY_LAYERS_MAX);
	if (stat(spec->upper, &l->owner) < 0)
		return error_sys(err, "'%.300s'", spec->upper);
	for (size_t i = 0; l->ids.privileged && i <= spec->lower_count; i++)
		if (mounts_clone(AT_FDCWD, layer_path(spec, i), &l->trees[i], err) < 0)
			return -1;
	return 0;
}

/* The caller's part: the ids of the holder's user namespace, and those of the layers. */
static int map_ids(const struct laying *l, pid_t pid, struct error *err)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP};
	autoclose int mapping = -1;
	char path[64];

	if (idmap_write_ids(&l->ids, pid, l->owner.st_uid, l->owner.st_gid, err) < 0)
		return -1;
	if (!l->ids.privileged)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	mapping = open(path, O_RDONLY | O_CLOEXEC);
	if (mapping < 0)
		return error_sys(err, "open %s", path);
	attr.userns_fd = (uint64_t)mapping;
	for (size_t i = 0; i <= l->spec->lower_count; i++)
		if (mount_setattr(l->trees[i], "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
			return error_sys(err, "map the owners of '%.200s'", layer_path(l->spec, i));
	return 0;
}

static int attach_layer(
	const struct laying *l, size_t i, int scratch, const char *name, struct error *err)
{
	autoclose int own = -1;
	int tree = l->trees[i];

	if (tree < 0) {
		if (mounts_clone(AT_FDCWD, layer_path(l->spec, i), &own, err) < 0)
			return -1;
		tree = own;
	}
	if (mounts_set_kind(
		    tree, i < l->spec->lower_count ? MOUNTS_READ_ONLY : MOUNTS_WRITABLE, err) < 0)
		return -1;
	if (mkdirat(scratch, name, 0700) < 0)
		return error_sys(err, "make '%s'", name);
	return mounts_attach(tree, scratch, name, err);
}

/* In namespaces of our own: everything is attached in a tmpfs on top of all else, with short
 * names. */
static int lay(const struct laying *l, int *ret_tree, struct error *err)
{
	char lower[256] = "", name[16];
	const struct mounts_option options[] = {{"lowerdir", lower}, {"upperdir", "u/tree"},
		{"workdir", "u/work"}, {"userxattr", NULL}, {"index", "off"}, {"metacopy", "off"}};
	autoclose int scratch = -1, tree = -1;
	size_t len = 0;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return error_sys(err, "make the mounts private");
	if (mounts_new("tmpfs", MOUNTS_WRITABLE, NULL, 0, &scratch, err) < 0 ||
		mounts_attach(scratch, AT_FDCWD, "/", err) < 0)
		return -1;
	for (size_t i = 0; i <= l->spec->lower_count; i++) {
		bool is_upper = i == l->spec->lower_count;

		snprintf(name, sizeof(name), is_upper ? "u" : "l%zu", i);
		if (attach_layer(l, i, scratch, name, err) < 0)
			return -1;
		if (!is_upper)
			len += (size_t)snprintf(
				lower + len, sizeof(lower) - len, "%s%s", i ? ":" : "", name);
	}
	if (fchdir(scratch) < 0 || mkdirat(scratch, "all", 0700) < 0)
		return error_sys(err, "lay the layers");
	if (mounts_new("overlay", MOUNTS_WRITABLE, options, ARRAY_LEN(options), &tree, err) < 0 ||
		mounts_attach(tree, scratch, "all", err) < 0)
		return -1;
	return mounts_clone(scratch, "all", ret_tree, err);
}

static NORETURN void give_up(int link, const struct error *err)
{
	(void)!link_send(link, LINK_ERROR, -1, err, NULL);
	_exit(1);
}

/* Nothing but the link stays open, so that nobody's end is kept from being seen. */
static NORETURN void hold(int link, int tree, bool joinable)
{
	struct error err = {0};
	char byte;

	/* Those who come later look at our namespaces, for which we have to be as they are. */
	if (joinable)
		(void)!prctl(PR_SET_DUMPABLE, 1);
	if (setsid() < 0 || link_send(link, LINK_UPPER, tree, NULL, &err) < 0 ||
		dup2(link, 0) < 0 || syscall(SYS_close_range, 1U, ~0U, 0U) < 0)
		_exit(1);
	while (read(0, &byte, 1) < 0 && errno == EINTR)
		continue;
	_exit(0);
}

static NORETURN void lay_and_hold(const struct laying *l, int link)
{
	struct error err = {0};
	enum link_kind kind;
	int fd = -1, tree = -1;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) {
		error_sys(&err, "make namespaces");
		give_up(link, &err);
	}
	if (link_send(link, LINK_GO, -1, NULL, &err) < 0 || link_recv(link, &kind, &fd, &err) < 0)
		give_up(link, &err);
	if (kind != LINK_GO)
		_exit(1);
	umask(0);
	if (setresgid(l->owner.st_gid, l->owner.st_gid, l->owner.st_gid) < 0 ||
		setresuid(l->owner.st_uid, l->owner.st_uid, l->owner.st_uid) < 0) {
		error_sys(&err, "become the owner");
		give_up(link, &err);
	}
	if (lay(l, &tree, &err) < 0)
		give_up(link, &err);
	hold(link, tree, !l->ids.privileged);
}

static NORETURN void join_and_hold(int pidfd, int link)
{
	struct error err = {0};
	bool joinable = !idmap_choose().privileged;
	int tree = -1;

	if (setns(pidfd, CLONE_NEWUSER | CLONE_NEWNS) < 0) {
		error_sys(&err, "enter the namespaces");
		give_up(link, &err);
	}
	if (mounts_clone(AT_FDCWD, "/all", &tree, &err) < 0)
		give_up(link, &err);
	hold(link, tree, joinable);
}

/* The mount that the holder sends. */
static int take_tree(struct overlay *o, struct error *err)
{
	enum link_kind kind;

	if (link_recv(o->link, &kind, &o->tree, err) < 0)
		return -1;
	return kind == LINK_UPPER && o->tree >= 0
		       ? 0
		       : error_set(err, ERR_DIED, "the process that lays the layers died");
}

/* pidfd of a holder to join, or -1 to lay anew. */
static int start(struct overlay *o, const struct laying *l, int pidfd, struct error *err)
{
	enum link_kind kind;
	int pair[2], fd = -1;

	if (link_open(pair, err) < 0)
		return -1;
	o->link = pair[0];
	o->pid = fork();
	if (o->pid == 0) {
		close(pair[0]);
		if (pidfd >= 0)
			join_and_hold(pidfd, pair[1]);
		lay_and_hold(l, pair[1]);
	}
	close(pair[1]);
	if (o->pid < 0)
		return error_sys(err, "fork");
	if (pidfd >= 0)
		return take_tree(o, err);
	if (link_recv(o->link, &kind, &fd, err) < 0)
		return -1;
	if (kind != LINK_GO)
		return error_set(err, ERR_DIED, "the process that lays the layers died");
	if (map_ids(l, o->pid, err) < 0 || link_send(o->link, LINK_GO, -1, NULL, err) < 0)
		return -1;
	return take_tree(o, err);
}

void overlay_close(struct overlay *o)
{
	fd_close(&o->tree);
	fd_close(&o->link);
	while (o->pid > 0 && waitpid(o->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	o->pid = 0;
}

/* The holder of this line, to be entered; -1: it is gone. */
static int holder_open(const char *line, int64_t *ret_pid)
{
	autoclose int pidfd = -1;
	struct proc_stat st;
	uint64_t pid, start_time;
	autofree char *first = mem_strndup(line, strcspn(line, " "));
	const char *second = line + strlen(first);

	if (*second != ' ' || num_parse_u64(first, INT32_MAX, &pid, NULL) < 0 ||
		num_parse_u64(second + 1, UINT64_MAX, &start_time, NULL) < 0)
		return -1;
	/* Opened first: whoever has the pid at the look that follows is the one that we have. */
	pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0U);
	if (pidfd < 0 || !proc_stat_read((int64_t)pid, &st) || st.start != start_time)
		return -1;
	*ret_pid = (int64_t)pid;
	return take_fd(pidfd);
}

/* Joins the first that can be; those that live go into *living. 1: joined, 0: none is there. */
static int join_one(struct overlay *o, char *text, struct bytes *living)
{
	const struct laying unused = {0};
	int joined = 0;

	for (char *line = text, *next; *line; line = next) {
		auto_overlay struct overlay made = {.tree = -1, .link = -1};
		autoclose int pidfd = -1;
		struct error why;
		int64_t pid;

		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		pidfd = holder_open(line, &pid);
		if (pidfd < 0)
			continue;
		bytes_put(living, line, strlen(line));
		bytes_put(living, "\n", 1);
		/* One that ends at this moment is none to join. */
		if (!joined && start(&made, &unused, pidfd, &why) == 0) {
			*o = made;
			made = (struct overlay){.tree = -1, .link = -1};
			joined = 1;
		}
	}
	return joined;
}

static int note_holders(int fd, struct bytes *living, pid_t pid, struct error *err)
{
	struct proc_stat st;
	autofree char *line = NULL;

	if (!proc_stat_read(pid, &st))
		return error_set(err, ERR_DIED, "the process that lays the layers died");
	line = str_format("%lld %llu\n", (long long)pid, (unsigned long long)st.start);
	bytes_put(living, line, strlen(line));
	if (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return error_sys(err, "note who holds the layers");
	return fd_write_all(fd, living->data, living->len, err);
}

/* With the file locked: nobody else lays or joins meanwhile. */
static int open_locked(
	int fd, const struct overlay_spec *spec, struct overlay *o, struct error *err)
{
	struct laying CLEANUP(laying_finish) l;
	auto_bytes struct bytes living = {0};
	autofree char *text = NULL;
	size_t len;

	for (size_t i = 0; i <= OVERLAY_LAYERS_MAX; i++)
		l.trees[i] = -1;
	if (fd_slurp(fd, HOLDERS_MAX, &text, &len, err) < 0)
		return -1;
	if (!join_one(o, text, &living) &&
		(laying_init(&l, spec, err) < 0 || start(o, &l, -1, err) < 0))
		return -1;
	return note_holders(fd, &living, o->pid, err);
}

int overlay_open(const struct overlay_spec *spec, struct overlay *ret, struct error *err)
{
	auto_overlay struct overlay o = {.tree = -1, .link = -1};
	autoclose int fd = open(spec->holders, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r;

	if (fd < 0 || flock(fd, LOCK_EX) < 0)
		return error_sys(err, "'%.300s'", spec->holders);
	r = open_locked(fd, spec, &o, err);
	/* A holder may still have this descriptor for a moment. */
	(void)!flock(fd, LOCK_UN);
	if (r < 0)
		return -1;
	*ret = o;
	o = (struct overlay){.tree = -1, .link = -1};
	return 0;
}
