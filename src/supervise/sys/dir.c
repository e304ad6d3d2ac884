/* SPDX-License-Identifier: Apache-2.0 */
/* getdents64: directories in one order, with stable offsets (listing.h). Also the working
 * directory. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/files/listing.h"
#include "supervise/files/path.h"
#include "supervise/proc/procfs.h"

enum { CHUNK_MAX = 64 * 1024 }; /* at most this much in one call; the guest asks again */

enum act enter_getdents64(struct task *t, struct call *c)
{
	static unsigned char chunk[CHUNK_MAX];
	int fd = (int)c->arg[0];
	size_t room = c->arg[2] & 0xffffffff, used = 0;
	struct listing *l = NULL;
	autoclose int own = fd < 0 ? -1 : task_dup_fd(t, fd);
	int64_t position = 0;
	int flags = 0;

	if (own < 0)
		return ACT_NATIVE; /* EBADF */
	flags = fcntl(own, F_GETFL);
	position = lseek(own, 0, SEEK_CUR);
	if (flags < 0 || flags & O_PATH || position < 0)
		return ACT_NATIVE; /* EBADF, ENOTDIR */
	l = listing_get(t, fd, own, position);
	if (l == NULL)
		return call_done(c, -errno);
	if (room > sizeof(chunk))
		room = sizeof(chunk);
	while (position < listing_count(l)) {
		size_t size = listing_put(l, (uint32_t)position, chunk + used, room - used);

		if (size == 0)
			break;
		used += size;
		position++;
	}
	/* Before the answer: where the kernel would be too. */
	if (lseek(own, position, SEEK_SET) < 0)
		return call_done(c, -errno);
	if (used == 0)
		return call_done(c, position < listing_count(l) ? -EINVAL : 0);
	listing_reached(l, position);
	if (gmem_write(t, c->arg[1], chunk, used) != 0)
		return call_done(c, -EFAULT);
	return call_done(c, (int64_t)used);
}

/* chdir and fchdir: what we remember of the working directory is stale from now on. */
enum act enter_chdir(struct task *t, struct call *c)
{
	auto_path struct path dir = PATH_NONE;
	char name[PATH_MAX];
	bool absent = c->nr == NR_chdir &&
		      path_find(t, AT_FDCWD, c->arg[0], 0, &dir) == PATH_FOUND &&
		      dir.kind == FS_PROC && path_name(dir.fd, name) && procfs_is_absent(name);

	path_cwd_changed(t);
	if (absent)
		return call_done(c, -ENOENT);
	return ACT_NATIVE;
}
