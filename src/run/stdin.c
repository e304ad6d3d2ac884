/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input: see stdin.h. */
#include "run/stdin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/temp.h"
#include "crypto/digest.h"

static int reopen(int fd, int *ret_fd, struct error *err)
{
	char path[32];
	int copy;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	copy = open(path, O_RDONLY | O_CLOEXEC);
	if (copy < 0)
		return error_sys(err, "standard input");
	*ret_fd = copy;
	return 0;
}

/* The rest of standard input in a file of its own, so that the guest cannot see what came before.
 */
static int copy_rest(int from, int *ret_fd, struct error *err)
{
	enum { CHUNK = 64 * 1024 };
	autofree char *buf = mem_alloc(CHUNK);
	autoclose int to = -1;

	if (temp_open(&to, err) < 0)
		return -1;
	for (;;) {
		ssize_t n = read(from, buf, CHUNK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "read standard input");
		if (n == 0)
			break;
		if (fd_write_all(to, buf, (size_t)n, err) < 0)
			return error_wrap(err, "copy standard input");
	}
	*ret_fd = take_fd(to);
	return 0;
}

static int open_file(struct stdin_source *s, struct contract *c, struct error *err)
{
	autoclose int rest = -1;
	off_t at = lseek(0, 0, SEEK_CUR);

	if (at > 0) {
		if (reopen(0, &rest, err) < 0 || lseek(rest, at, SEEK_SET) < 0 ||
			copy_rest(rest, &s->file, err) < 0)
			return -1;
	} else if (reopen(0, &s->file, err) < 0) {
		return -1;
	}
	if (lseek(s->file, 0, SEEK_SET) < 0)
		return error_sys(err, "standard input");
	if (digest_of_fd(s->file, c->stdin_digest, NULL, err) < 0)
		return error_wrap(err, "standard input");
	return 0;
}

static enum contract_stdin kind_of(const struct stat *st, bool tty)
{
	if (S_ISREG(st->st_mode))
		return CONTRACT_STDIN_FILE;
	if (S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode))
		return CONTRACT_STDIN_STREAM;
	if (!S_ISCHR(st->st_mode) || st->st_rdev == makedev(1, 3))
		return CONTRACT_STDIN_EMPTY;
	return tty || !isatty(0) ? CONTRACT_STDIN_STREAM : CONTRACT_STDIN_EMPTY;
}

int stdin_open(struct stdin_source *s, struct contract *c, struct error *err)
{
	struct stat st;
	int flags = fcntl(0, F_GETFL);

	*s = (struct stdin_source){.kind = CONTRACT_STDIN_EMPTY, .file = -1, .spool = -1};
	if (flags >= 0 && (flags & O_ACCMODE) != O_WRONLY && fstat(0, &st) == 0)
		s->kind = kind_of(&st, c->tty);
	c->stdin_kind = s->kind;
	return s->kind == CONTRACT_STDIN_FILE ? open_file(s, c, err) : 0;
}

void stdin_close(struct stdin_source *s)
{
	fd_close(&s->file);
	fd_close(&s->spool);
}

int stdin_keep(struct stdin_source *s, struct error *err)
{
	return s->kind == CONTRACT_STDIN_STREAM ? temp_open(&s->spool, err) : 0;
}

int stdin_rewind(struct stdin_source *s, struct error *err)
{
	s->is_second = true;
	if (s->kind != CONTRACT_STDIN_STREAM)
		return 0;
	s->file = take_fd(s->spool);
	return lseek(s->file, 0, SEEK_SET) < 0 ? error_sys(err, "rewind the copy of standard input")
					       : 0;
}

int stdin_reader(const struct stdin_source *s, int *ret_fd, struct error *err)
{
	int fd;

	if (s->kind == CONTRACT_STDIN_FILE)
		return reopen(s->file, ret_fd, err);
	if (s->kind == CONTRACT_STDIN_EMPTY)
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	else
		fd = fcntl(s->is_second ? s->file : 0, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return error_sys(err, "standard input");
	*ret_fd = fd;
	return 0;
}
