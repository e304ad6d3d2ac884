/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the static supervisor: see supervisor.h. */
#include "run/supervisor.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "config/settings.h"

int supervisor_open(int *ret_fd, struct error *err)
{
	static const char *const places[] = {
		"sandglass-supervise", "../libexec/sandglass/sandglass-supervise"};
	autofree char *set = NULL, *dir = NULL, *first = NULL;
	char self[PATH_MAX];
	ssize_t n;
	int found = settings_find("supervise", &set, err);

	if (found < 0)
		return -1;
	if (found) {
		*ret_fd = open(set, O_RDONLY | O_CLOEXEC);
		return *ret_fd < 0 ? error_sys(err, "the supervisor '%.300s'", set) : 0;
	}
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		return error_sys(err, "find the supervisor: read /proc/self/exe");
	self[n] = '\0';
	dir = path_dirname(self);
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		autofree char *path = path_join(dir, places[i]);

		*ret_fd = open(path, O_RDONLY | O_CLOEXEC);
		if (*ret_fd >= 0)
			return 0;
		if (!first)
			first = take_ptr(path);
	}
	return error_set(err, ERR_MISSING,
		"no supervisor at '%.200s' nor in libexec/sandglass; build it, or set "
		"SANDGLASS_SUPERVISE",
		first);
}
