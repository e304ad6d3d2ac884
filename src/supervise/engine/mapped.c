/* SPDX-License-Identifier: Apache-2.0 */
/* Files mapped executable: see mapped.h. */
#include "supervise/engine/mapped.h"

#include <fcntl.h>
#include <inttypes.h>
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

/* The table of t's mappings; borrowed until the next call, NULL when it is gone. */
static char *read_maps(struct task *t)
{
	static char text[TEXT_MAX];
	char path[32];
	size_t len = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", t->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	while (len < sizeof(text) - 1 && (n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	text[len] = '\0';
	return text;
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
	char *line, *end;

	if (!wanted)
		return;
	for (line = read_maps(t); line && (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		tell_line(t, line);
	}
}

void mapped_place(struct task *t, uint64_t addr, char *ret_text, size_t size)
{
	char *line, *end;

	snprintf(ret_text, size, "%#" PRIx64, addr);
	for (line = read_maps(t); line && (end = strchr(line, '\n')) != NULL; line = end + 1) {
		uint64_t start, stop, offset;
		int path = 0;

		*end = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &start,
			    &stop, &offset, &path) != 3 ||
			addr < start || addr >= stop)
			continue;
		if (path > 0 && line[path] == '/')
			snprintf(
				ret_text, size, "%s+%#" PRIx64, line + path, addr - start + offset);
		return;
	}
}
