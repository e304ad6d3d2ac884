/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of /proc and /sys whose content we make: the guest's open becomes a memfd_create, and when
 * it comes back the content is written and sealed. Which memfd stands for which path is remembered,
 * so that stat and readlink show the path.
 */
#ifndef SUPERVISE_SERVED_H
#define SUPERVISE_SERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "supervise/engine/task.h"

/* Before the guest starts: learns on which device memfds live. */
void served_init(void);
/* The file of /proc that a memfd stands for. */
struct served {
	uint64_t ino; /* the memfd's */
	char *path;
	struct statx native; /* of the kernel's own file */
};

/* Borrowed until the next served_fill; NULL when it is no such file. */
const struct served *served_find(const struct statx *stx);
/*
 * The guest's call (a seccomp stop) becomes memfd_create(the string at `addr`, of `len` bytes,
 * close-on-exec or not): ACT_LEAVE is to be answered.
 */
void served_begin(struct task *t, uint64_t addr, size_t len, bool cloexec);
/* Fills the guest's descriptor and remembers it. 0 or -1 with errno. */
int served_fill(struct task *t, int fd, const char *path, const struct statx *native,
	const struct bytes *content);

#endif
