/* SPDX-License-Identifier: Apache-2.0 */
/* Other processes as /proc shows them: see proc.h. */
#include "base/proc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

enum { PARENT_FIELD = 4, START_FIELD = 22 }; /* proc_pid_stat(5) counts from 1 */

bool proc_stat_read(int64_t pid, struct proc_stat *ret)
{
	char path[64], text[1024];
	struct proc_stat st = {0};
	autoclose int fd = -1;
	const char *p;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	p = strrchr(text, ')'); /* the name before may hold anything */
	for (int field = 3; p && field <= START_FIELD; field++) {
		p = strchr(p + 1, ' ');
		if (p && field == PARENT_FIELD && sscanf(p, " %" SCNd64, &st.parent) != 1)
			return false;
		if (p && field == START_FIELD && sscanf(p, " %" SCNu64, &st.start) != 1)
			return false;
	}
	if (!p)
		return false;
	*ret = st;
	return true;
}
