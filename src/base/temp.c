/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary files without a name: see temp.h. */
#include "base/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int temp_open(int *ret_fd, struct error *err)
{
	const char *dir = getenv("TMPDIR");
	int fd;

	if (!dir || dir[0] != '/')
		dir = "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	/* O_TMPFILE is not known to every file system (overlay before 6.1's successors, NFS). */
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT ||
			      errno == EACCES || errno == EROFS))
		fd = memfd_create("sandglass", MFD_CLOEXEC);
	if (fd < 0)
		return error_sys(err, "create a temporary file in '%s'", dir);
	*ret_fd = fd;
	return 0;
}
