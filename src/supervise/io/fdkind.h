/* SPDX-License-Identifier: Apache-2.0 */
/* What a guest's descriptor is, looked at through a duplicate that lives within one stop. */
#ifndef SUPERVISE_FDKIND_H
#define SUPERVISE_FDKIND_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "supervise/engine/task.h"

enum fdkind {
	FDKIND_FILE,   /* never blocks: regular file, directory, /dev/null and its like */
	FDKIND_RANDOM, /* /dev/random, /dev/urandom: answered from the seeded stream */
	FDKIND_PIPE,   /* pipe or FIFO */
	FDKIND_SOCKET,
	FDKIND_TTY,
	FDKIND_ANON, /* eventfd, signalfd, inotify, epoll, pidfd */
};

/* A duplicate of a guest's descriptor; owned, closed by gfd_close. */
struct gfd {
	int fd;	    /* -1: none */
	int number; /* in the guest */
	enum fdkind kind;
	int flags;	   /* F_GETFL; 0 for FDKIND_FILE */
	bool nonblock_set; /* gfd_set_nonblock changed the flag */
	struct stat st;
};

#define GFD_NONE ((struct gfd){.fd = -1})
void gfd_close(struct gfd *g);
#define auto_gfd CLEANUP(gfd_close)

/* 0, or -1: the guest has no such descriptor (or we cannot have it). */
MUST_CHECK int gfd_open(struct task *t, int number, struct gfd *ret);

bool gfd_is_nonblock(const struct gfd *g);
bool gfd_can_read(const struct gfd *g);
bool gfd_can_write(const struct gfd *g);
/* poll(2) on it, without waiting. */
short gfd_poll(const struct gfd *g, short events);
/*
 * Makes the open file description non-blocking until gfd_close, whoever shares it: nobody sees it,
 * since every guest task is stopped until then. Nothing is done to FDKIND_FILE.
 */
void gfd_set_nonblock(struct gfd *g);
/*
 * How much room a pipe has is about to show. A user who has a thousand pipes gets smaller ones
 * (pipe(7), pipe-user-pages-soft), and who that user is besides this guest is the host's affair:
 * such a pipe is told, unless guests choose sizes themselves.
 */
void gfd_room_shows(const struct gfd *g);
void gfd_sized_by_guest(void);
/* The name behind an anonymous descriptor, such as "[eventfd]"; "" when it has none. */
void gfd_anon_name(const struct gfd *g, char *ret_name, size_t size);
bool gfd_is_signalfd(const struct gfd *g);
/* The value of a line "key:\tVALUE" of its /proc/self/fdinfo: 1 and *ret (read in this base), or 0.
 */
int gfd_info(const struct gfd *g, const char *key, int base, uint64_t *ret);

/* Told when a guest made a signalfd: from then on descriptors are looked at for it. */
void fdkind_signalfd_made(void);
bool fdkind_has_signalfd(void);

/* Does a descriptor with this stat have to be mediated (tighten)? */
bool fdkind_is_mediated(const struct stat *st);

#endif
