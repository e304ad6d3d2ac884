/* SPDX-License-Identifier: Apache-2.0 */
/* Directories shared with the host: see shared.h. */
#include "supervise/files/shared.h"

#include <string.h>

#include "supervise/main.h"
#include "supervise/files/path.h"
#include "supervise/report.h"

void shared_check(int fd)
{
	const struct contract *c = contract_get();
	char name[PATH_MAX];

	for (size_t i = 0; i < c->bind_count; i++) {
		const struct contract_bind *b = &c->binds[i];
		size_t len = strlen(b->dest);

		if (!b->writable || !path_name(fd, name) || strncmp(name, b->dest, len) != 0)
			continue;
		if (name[len] == '\0' || name[len] == '/' || (len > 0 && b->dest[len - 1] == '/'))
			report_not_enforced(REASON_SHARED_WITH_OUTSIDE, "write to %s", name);
	}
}
