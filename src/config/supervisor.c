/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the static supervisor: see supervisor.h. */
#include "config/supervisor.h"

#include <fcntl.h>

#include "base/fd.h"
#include "base/mem.h"
#include "config/programs.h"
#include "config/settings.h"

int supervisor_open(int *ret_fd, struct error *err)
{
	autofree char *set = NULL;
	int found = settings_find("supervise", &set, err);

	if (found < 0)
		return -1;
	if (found) {
		*ret_fd = open(set, O_RDONLY | O_CLOEXEC);
		return *ret_fd < 0 ? error_sys(err, "the supervisor '%.300s'", set) : 0;
	}
	return program_open(
		"sandglass-supervise", "build it, or set SANDGLASS_SUPERVISE", ret_fd, err);
}
