/* SPDX-License-Identifier: Apache-2.0 */
/* Writers of a file: see writers.h. */
#include "supervise/io/writers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "supervise/engine/task.h"

struct pair {
	uint32_t major, minor;
	uint64_t ino;
};

static struct pair *scanned;
static size_t scanned_count, scanned_room;

int writers_of(int fd)
{
	char link[32];
	autoclose int reader = -1;
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return 0;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	reader = open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (reader < 0)
		return -1;
	if (fcntl(reader, F_SETLEASE, F_RDLCK) == 0) {
		(void)fcntl(reader, F_SETLEASE, F_UNLCK);
		return 0;
	}
	return errno == EAGAIN ? 1 : -1;
}

static void scanned_add(uint32_t major, uint32_t minor, uint64_t ino)
{
	if (scanned_count == scanned_room) {
		scanned_room = scanned_room == 0 ? 64 : scanned_room * 2;
		scanned = mem_grow(scanned, scanned_room, sizeof(*scanned));
	}
	scanned[scanned_count++] = (struct pair){major, minor, ino};
}

static void scan_descriptors(pid_t pid)
{
	char path[32];
	struct dirent *entry = NULL;
	DIR *dir = NULL;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL) {
		struct statx stx;
		struct stat link;

		/* The link's own mode says how the descriptor was opened. */
		if (fstatat(dirfd(dir), entry->d_name, &link, AT_SYMLINK_NOFOLLOW) != 0 ||
			!S_ISLNK(link.st_mode) || !(link.st_mode & S_IWUSR))
			continue;
		if (statx(dirfd(dir), entry->d_name, 0, STATX_INO | STATX_TYPE, &stx) == 0 &&
			S_ISREG(stx.stx_mode))
			scanned_add(stx.stx_dev_major, stx.stx_dev_minor, stx.stx_ino);
	}
	(void)closedir(dir);
}

static void scan_mappings(pid_t pid)
{
	char path[32], line[512];
	FILE *maps = NULL;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	if (maps == NULL)
		return;
	while (fgets(line, sizeof(line), maps) != NULL) {
		uint32_t major = 0, minor = 0;
		uint64_t ino = 0;
		char mode[5] = "";

		if (sscanf(line, "%*x-%*x %4s %*x %" SCNx32 ":%" SCNx32 " %" SCNu64, mode, &major,
			    &minor, &ino) == 4 &&
			mode[1] == 'w' && mode[3] == 's')
			scanned_add(major, minor, ino);
	}
	(void)fclose(maps);
}

void writers_scan(void)
{
	scanned_count = 0;
	for (struct process *p = process_list; p != NULL; p = p->next) {
		if (p->zombie)
			continue;
		scan_descriptors(p->pid);
		scan_mappings(p->pid);
	}
}

bool writers_scanned(int fd)
{
	struct statx stx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_TYPE, &stx) != 0 ||
		!S_ISREG(stx.stx_mode))
		return false;
	for (size_t k = 0; k < scanned_count; k++)
		if (scanned[k].ino == stx.stx_ino && scanned[k].major == stx.stx_dev_major &&
			scanned[k].minor == stx.stx_dev_minor)
			return true;
	return false;
}

void writers_scan_finish(void)
{
	free(scanned);
	scanned = NULL;
	scanned_count = scanned_room = 0;
}
