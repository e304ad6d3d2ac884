/* SPDX-License-Identifier: Apache-2.0 */
/* What a guest's descriptor is: see fdkind.h. */
#include "supervise/io/fdkind.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "supervise/report.h"

/* linux/major.h */
enum { MEM_MAJOR = 1, TTY_MAJOR = 4, TTYAUX_MAJOR = 5, PTS_FIRST = 128, PTS_LAST = 143 };
enum { RANDOM_MINOR = 8, URANDOM_MINOR = 9 };

static bool has_signalfd;

void fdkind_signalfd_made(void)
{
	has_signalfd = true;
}

bool fdkind_has_signalfd(void)
{
	return has_signalfd;
}

static enum fdkind kind_of(const struct stat *st)
{
	unsigned int major_nr, minor_nr;

	switch (st->st_mode & S_IFMT) {
	case S_IFIFO:
		return FDKIND_PIPE;
	case S_IFSOCK:
		return FDKIND_SOCKET;
	case 0:
		return FDKIND_ANON;
	case S_IFCHR:
		break;
	default:
		return FDKIND_FILE;
	}
	major_nr = major(st->st_rdev);
	minor_nr = minor(st->st_rdev);
	if (major_nr == MEM_MAJOR && (minor_nr == RANDOM_MINOR || minor_nr == URANDOM_MINOR))
		return FDKIND_RANDOM;
	if (major_nr == TTY_MAJOR || major_nr == TTYAUX_MAJOR ||
		(major_nr >= PTS_FIRST && major_nr <= PTS_LAST))
		return FDKIND_TTY;
	return FDKIND_FILE;
}

bool fdkind_is_mediated(const struct stat *st)
{
	return kind_of(st) != FDKIND_FILE;
}

int gfd_open(struct task *t, int number, struct gfd *ret)
{
	struct gfd g = {.fd = task_dup_fd(t, number), .number = number};

	if (g.fd < 0)
		return -1;
	if (fstat(g.fd, &g.st) < 0) {
		gfd_close(&g);
		return -1;
	}
	g.kind = kind_of(&g.st);
	if (g.kind != FDKIND_FILE)
		g.flags = fcntl(g.fd, F_GETFL);
	*ret = g;
	return 0;
}

void gfd_close(struct gfd *g)
{
	int saved = errno;

	if (g->fd < 0)
		return;
	if (g->nonblock_set && fcntl(g->fd, F_SETFL, g->flags) < 0)
		abort();
	close(g->fd);
	g->fd = -1;
	errno = saved;
}

bool gfd_is_nonblock(const struct gfd *g)
{
	return g->flags & O_NONBLOCK;
}

bool gfd_can_read(const struct gfd *g)
{
	return (g->flags & O_ACCMODE) != O_WRONLY && !(g->flags & O_PATH);
}

bool gfd_can_write(const struct gfd *g)
{
	return (g->flags & O_ACCMODE) != O_RDONLY && !(g->flags & O_PATH);
}

short gfd_poll(const struct gfd *g, short events)
{
	struct pollfd p = {.fd = g->fd, .events = events};

	return poll(&p, 1, 0) > 0 ? p.revents : 0;
}

void gfd_set_nonblock(struct gfd *g)
{
	/* A file never blocks, and its flags were not read. */
	if (g->kind == FDKIND_FILE || g->nonblock_set || (g->flags & O_NONBLOCK))
		return;
	/* Its flags were read before; what follows must not wait. */
	if (fcntl(g->fd, F_SETFL, g->flags | O_NONBLOCK) < 0)
		abort();
	g->nonblock_set = true;
}

static bool sized_by_guest;

void gfd_sized_by_guest(void)
{
	sized_by_guest = true;
}

void gfd_room_shows(const struct gfd *g)
{
	enum { PAGES = 16 };
	int size;

	if (g->kind != FDKIND_PIPE || sized_by_guest)
		return;
	size = fcntl(g->fd, F_GETPIPE_SZ);
	if (size > 0 && size < PAGES * sysconf(_SC_PAGESIZE))
		report_not_enforced(REASON_UNMODELLED,
			"the room in a smaller pipe than usual: the host's user has too many "
			"(fs.pipe-user-pages-soft)");
}

void gfd_anon_name(const struct gfd *g, char *ret_name, size_t size)
{
	static const char prefix[] = "anon_inode:";
	char path[40], target[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", g->fd);
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	snprintf(ret_name, size, "%s",
		strncmp(target, prefix, sizeof(prefix) - 1) ? "" : target + sizeof(prefix) - 1);
}

bool gfd_is_signalfd(const struct gfd *g)
{
	char name[64];

	if (!has_signalfd || g->kind != FDKIND_ANON)
		return false;
	gfd_anon_name(g, name, sizeof(name));
	return strcmp(name, "[signalfd]") == 0;
}

int gfd_info(const struct gfd *g, const char *key, int base, uint64_t *ret)
{
	char path[40], text[2048];
	const char *line;
	autoclose int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", g->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	for (line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		size_t len = strlen(key);
		uint64_t value = 0;

		if (strncmp(line, key, len) || line[len] != ':')
			continue;
		for (line += len + 1; *line == ' ' || *line == '\t'; line++)
			;
		for (;; line++) {
			int digit = *line >= '0' && *line <= '9'   ? *line - '0'
				    : *line >= 'a' && *line <= 'f' ? *line - 'a' + 10
								   : 99;
			if (digit >= base)
				break;
			value = value * (unsigned)base + (unsigned)digit;
		}
		*ret = value;
		return 1;
	}
	return 0;
}
