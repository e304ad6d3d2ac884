/* SPDX-License-Identifier: Apache-2.0 */
/* Where the project's other programs are: see programs.h. */
#include "config/programs.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"

int program_open(const char *name, const char *remedy, int *ret_fd, struct error *err)
{
	static const char *const folders[] = {"", "../libexec/sandglass/"};
	autofree char *dir = NULL, *first = NULL;
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return error_sys(err, "find %s: read /proc/self/exe", name);
	self[n] = '\0';
	dir = path_dirname(self);
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		autofree char *folder = path_join(dir, folders[i]);
		autofree char *path = path_join(folder, name);

		*ret_fd = open(path, O_RDONLY | O_CLOEXEC);
		if (*ret_fd >= 0)
			return 0;
		if (!first)
			first = take_ptr(path);
	}
	return error_set(err, ERR_MISSING, "no %s at '%.200s' nor in libexec/sandglass; %s", name,
		first, remedy);
}
