/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolves a guest's path in the supervisor: same root, same user, the guest's working directory or
 * directory descriptor, so the kernel answers as it would answer the guest. Only the links of /proc
 * are different things to different processes; what met one is left to the slow walk, which reads
 * /proc/self as the guest.
 */
#ifndef SUPERVISE_PATH_H
#define SUPERVISE_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "supervise/engine/task.h"

/* What kind of file system a file lies on. */
enum fs_kind {
	FS_PLAIN = 1,
	FS_PROC,
	FS_SYS,	  /* sysfs and cgroups */
	FS_FIXED, /* keeps no files: pipes, sockets, terminals, namespaces */
};

enum path_answer {
	PATH_FOUND,  /* fd and stx are set */
	PATH_ERROR,  /* the guest gets this error natively too; `error` is the errno */
	PATH_HIDDEN, /* it is there, and not shown: ENOENT (files/foreign.h) */
	PATH_ODD,    /* not sure: let the kernel do it and look at what it did */
};

enum {
	PATH_NOFOLLOW = 1, /* a symbolic link at the end is what is meant */
	PATH_EMPTY = 2,	   /* AT_EMPTY_PATH */
};

/* A file that was found: an O_PATH descriptor (or a duplicate of the guest's own). */
struct path {
	int fd;
	int error;
	enum fs_kind kind;
	struct statx stx; /* STATX_BASIC_STATS | STATX_BTIME */
};

void path_finish(struct path *p);
#define auto_path CLEANUP(path_finish)
#define PATH_NONE ((struct path){.fd = -1})

/* Before the guest starts: which devices are /proc and /sys. */
void path_init(void);
/* The path that stands in the guest's memory at addr, from its descriptor dirfd (or AT_FDCWD). */
enum path_answer path_find(
	struct task *t, int dirfd, uint64_t addr, unsigned flags, struct path *ret);
/* As path_find, for a caller that needs no descriptor: fd may be -1 where the file is plain. */
enum path_answer path_find_state(
	struct task *t, int dirfd, uint64_t addr, unsigned flags, struct path *ret);
enum path_answer path_find_text(
	struct task *t, int dirfd, const char *text, unsigned flags, struct path *ret);
/*
 * The short way for a plain file whose name is all of the path: no link can be met on the way, so
 * one look at it is enough. True: stx and kind are set, fd is -1. False: ask path_find_text.
 */
bool path_look(struct task *t, int dirfd, const char *text, struct path *ret);
/* The guest's descriptor; never PATH_ERROR. */
enum path_answer path_find_fd(struct task *t, int fd, struct path *ret);
/* Fills in stx and kind of p->fd. 0 or -1 with errno. */
int path_stat(struct path *p);
/* The directory in which the last component of the text lies, and that component. */
enum path_answer path_find_parent(
	struct task *t, int dirfd, const char *text, struct path *ret, char ret_last[NAME_MAX + 1]);

/* Where the file is, as /proc/self/fd says it: false when it has no name (deleted, pipe). */
bool path_name(int fd, char ret_name[PATH_MAX]);
/* The directory above a name that path_name gave; the name itself is cut. */
int path_open_above(char name[PATH_MAX], struct path *ret);
/* The task (or another of its process) changes its working directory. */
void path_cwd_changed(struct task *t);

#endif
