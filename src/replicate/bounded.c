/* SPDX-License-Identifier: Apache-2.0 */
/* The output's own file system: see bounded.h. */
#include "replicate/bounded.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/fd.h"

int bounded_mount(
	const struct job *j, bool is_private, uid_t uid, gid_t gid, int *ret, struct error *err)
{
	const struct claim_limits *l = &j->claim->limits;
	static bool is_alone;
	autoclose int fd = -1;
	char options[160];

	if (is_private && !is_alone &&
		(unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0))
		return error_sys(err, "make a mount namespace");
	is_alone = is_alone || is_private;
	/* The root of it is an inode too. */
	snprintf(options, sizeof(options), "mode=0755,uid=%u,gid=%u,size=%llu,nr_inodes=%llu", uid,
		gid, (unsigned long long)l->output_bytes, (unsigned long long)l->output_files + 1);
	if (mount("output", j->out, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
		return error_sys(err, "mount the output");
	fd = open(j->out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, "open the output");
	*ret = take_fd(fd);
	return 0;
}

int bounded_unmount(const struct job *j, struct error *err)
{
	return umount2(j->out, MNT_DETACH) < 0 ? error_sys(err, "unmount the output") : 0;
}
