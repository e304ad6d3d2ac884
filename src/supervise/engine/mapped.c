/* SPDX-License-Identifier: Apache-2.0 */
/* Files mapped executable: see mapped.h. */
#include "supervise/engine/mapped.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "supervise/report.h"

/* More than a program maps; what is beyond is not told. */
enum { TOLD_MAX = 4096, TEXT_MAX = 256 * 1024 };

static char *told[TOLD_MAX];
static size_t told_count;
static bool wanted;

static void tell(struct task *t, const char *path)
{
	for (size_t i = 0; i < told_count; i++)
		if (strcmp(told[i], path) == 0)
			return;
	if (told_count == TOLD_MAX)
		return;
	told[told_count++] = mem_strdup(path);
	report_mapped(t, path);
}

/* "start-end r-xp offset dev inode    /path" */
static void tell_line(struct task *t, char *line)
{
	const char *modes = strchr(line, ' ');
	char *path = strchr(line, '/');

	if (modes && path && strlen(modes) > 4 && modes[3] == 'x')
		tell(t, path);
}

void mapped_start(void)
{
	wanted = true;
}

void mapped_tell(struct task *t)
{
	static char text[TEXT_MAX];
	char path[32], *line = text, *end;
	size_t len = 0;
	ssize_t n;
	int fd;

	if (!wanted)
		return;
	snprintf(path, sizeof(path), "/proc/%d/maps", t->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	while (len < sizeof(text) - 1 && (n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	text[len] = '\0';
	for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		tell_line(t, line);
	}
}
