/* SPDX-License-Identifier: Apache-2.0 */
/* Files of /proc and /sys whose content we make: see served.h. */
#include "supervise/proc/served.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

enum {
	SERVED_KEPT = 256,    /* files remembered; the oldest is forgotten first */
	MEMFD_NAME_MAX = 249, /* memfd_create(2) */
};

static struct served served[SERVED_KEPT];
static unsigned served_next;
static uint32_t memfd_major, memfd_minor;

void served_init(void)
{
	autoclose int fd = memfd_create("served", MFD_CLOEXEC);
	struct statx stx;

	if (fd >= 0 && statx(fd, "", AT_EMPTY_PATH, STATX_INO, &stx) == 0) {
		memfd_major = stx.stx_dev_major;
		memfd_minor = stx.stx_dev_minor;
	}
}

const struct served *served_find(const struct statx *stx)
{
	if (stx->stx_dev_minor != memfd_minor || stx->stx_dev_major != memfd_major ||
		!S_ISREG(stx->stx_mode))
		return NULL;
	for (unsigned k = 0; k < SERVED_KEPT; k++)
		if (served[k].path != NULL && served[k].ino == stx->stx_ino)
			return &served[k];
	return NULL;
}

void served_begin(struct task *t, uint64_t addr, size_t len, bool cloexec)
{
	/* Its name only has to be one; the guest's own path is at hand in its memory. */
	if (len > MEMFD_NAME_MAX)
		addr += len - MEMFD_NAME_MAX;
	call_set_nr(t, SYS_memfd_create);
	call_set_arg(t, 0, addr);
	call_set_arg(t, 1, MFD_ALLOW_SEALING | (cloexec ? MFD_CLOEXEC : 0));
}

int served_fill(struct task *t, int fd, const char *path, const struct statx *native,
	const struct bytes *content)
{
	autoclose int own = task_dup_fd(t, fd);
	struct served *s = &served[served_next++ % SERVED_KEPT];
	struct statx stx;

	if (own < 0)
		return -1;
	if (fd_write_all(own, content->data, content->len, NULL) != 0)
		return -1;
	if (lseek(own, 0, SEEK_SET) != 0 ||
		fcntl(own, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW) != 0)
		return -1;
	if (statx(own, "", AT_EMPTY_PATH, STATX_INO, &stx) != 0)
		return -1;
	free(s->path);
	s->path = mem_strdup(path);
	s->ino = stx.stx_ino;
	s->native = *native;
	return 0;
}
