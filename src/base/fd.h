/* SPDX-License-Identifier: Apache-2.0 */
/* File descriptors: the ownership idiom, whole reads and writes, passing one over a socket. */
#ifndef BASE_FD_H
#define BASE_FD_H

#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"

/* For `autoclose int fd = -1;`. Keeps errno. */
void fd_cleanup(int *fd);
#define autoclose CLEANUP(fd_cleanup)

/* Gives the descriptor away: the local becomes -1. */
int fd_take(int *fd);
#define take_fd(lvalue) fd_take(&(lvalue))

/* Closes *fd if it is not -1 and sets it to -1. */
void fd_close(int *fd);

/* All of it or an error; EINTR is retried. */
MUST_CHECK int fd_write_all(int fd, const void *data, size_t len, struct error *err);
/* 1: filled; 0: end of file before the first byte; -1: error, or an end in the middle. */
MUST_CHECK int fd_read_all(int fd, void *data, size_t len, struct error *err);
/* The whole rest of a file as heap bytes with a NUL after them (caller frees); more than max is
 * ERR_LIMIT. */
MUST_CHECK int fd_slurp(int fd, size_t max, char **ret_data, size_t *ret_len, struct error *err);
/*
 * The regular file under a path that came from elsewhere, to be read; -1 with errno. ENXIO: it is
 * something else, which is not opened (a device may do something then), or a file of the kernel's
 * own (/proc, /sys), which may have no end.
 */
int fd_open_file(const char *path);

/* One byte of data and up to 8 descriptors over a unix socket (SCM_RIGHTS). */
MUST_CHECK int fd_send(int sock, const int *fds, size_t count, struct error *err);
/* Receives exactly count descriptors, close-on-exec; the caller owns them. An end of file is
 * ERR_DIED. */
MUST_CHECK int fd_recv(int sock, int *ret_fds, size_t count, struct error *err);

#endif
