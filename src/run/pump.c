/* SPDX-License-Identifier: Apache-2.0 */
/* One stream between the guest and the caller: see pump.h. */
#include "run/pump.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

enum { ROOM = 1024 * 1024 };

void pump_init(struct pump *p)
{
	*p = (struct pump){.from = -1, .to = -1, .spool = -1, .digest = digest_new()};
}

void pump_start(struct pump *p, int from, int to)
{
	struct stat st;

	p->from = from;
	p->to = to;
	p->is_pipe = to >= 0 && fstat(to, &st) == 0 && !S_ISREG(st.st_mode);
	p->data = mem_alloc(ROOM);
}

void pump_finish(struct pump *p)
{
	if (p->owns_to)
		fd_close(&p->to);
	fd_close(&p->from);
	digest_free(p->digest);
	free(p->data);
	*p = (struct pump){.from = -1, .to = -1, .spool = -1};
}

bool pump_is_done(const struct pump *p)
{
	return p->from < 0 && p->len == 0;
}

static bool wants_read(const struct pump *p)
{
	return p->from >= 0 && p->start + p->len < ROOM;
}

size_t pump_poll(const struct pump *p, struct pollfd *fds)
{
	size_t n = 0;

	if (wants_read(p))
		fds[n++] = (struct pollfd){.fd = p->from, .events = POLLIN};
	/* Even with nothing to write: a reader that went away shows as POLLERR. */
	if (p->to >= 0 && (p->len > 0 || p->is_pipe))
		fds[n++] = (struct pollfd){.fd = p->to, .events = p->len > 0 ? POLLOUT : 0};
	return n;
}

/* A copy that is over its bound, or that the disk has no room for, ends there: the digest goes on.
 */
static void keep(struct pump *p, const unsigned char *data, size_t n)
{
	p->total += n;
	digest_update(p->digest, data, n);
	if (p->spool < 0)
		return;
	if (p->spooled + n > PUMP_SPOOL_MAX || fd_write_all(p->spool, data, n, NULL) < 0)
		p->spool = -1;
	else
		p->spooled += n;
}

static int step_read(struct pump *p, struct error *err)
{
	unsigned char *at = p->data + p->start + p->len;
	ssize_t n = read(p->from, at, ROOM - p->start - p->len);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	/* EIO is how the master of a pty tells that its last slave was closed. */
	if (n < 0 && errno != EIO)
		return error_sys(err, "read");
	if (n <= 0) {
		fd_close(&p->from);
		return 0;
	}
	if (p->filter)
		n = (ssize_t)p->filter(at, (size_t)n);
	keep(p, at, (size_t)n);
	if (p->journal) {
		size_t dropped = journal_drop(p->journal, p->stream, at, (size_t)n);

		n -= (ssize_t)dropped;
		memmove(at, at + dropped, (size_t)n);
	}
	if (p->to >= 0)
		p->len += (size_t)n;
	return 0;
}

static int write_journaled(struct pump *p, size_t part, ssize_t *ret, struct error *err)
{
	const unsigned char *at = p->data + p->start;
	int problem;

	if (!p->planned) {
		p->planned = p->len < JOURNAL_PLAN_MAX ? p->len : JOURNAL_PLAN_MAX;
		if (journal_plan(p->journal, p->stream, p->to, at, p->planned, err) < 0)
			return -1;
	}
	part = part < p->planned ? part : p->planned;
	if (journal_begin(p->journal, p->stream, at, part, err) < 0)
		return -1;
	*ret = write(p->to, at, part);
	problem = errno;
	if (*ret > 0) {
		p->planned -= (size_t)*ret;
		if (journal_end(p->journal, p->stream, at, (size_t)*ret, err) < 0)
			return -1;
	}
	errno = problem;
	return 0;
}

static int step_write(struct pump *p, struct error *err)
{
	/* A pipe that polls writable takes PIPE_BUF bytes without blocking (pipe(7)). */
	size_t part = p->is_pipe && p->len > PIPE_BUF ? PIPE_BUF : p->len;
	ssize_t n = -1;

	if (!p->journal)
		n = write(p->to, p->data + p->start, part);
	else if (write_journaled(p, part, &n, err) < 0)
		return -1;
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n < 0 && errno == EPIPE) {
		p->is_broken = true;
		pump_drop(p);
		return 0;
	}
	if (n < 0)
		return error_sys(err, "write");
	p->start += (size_t)n;
	p->len -= (size_t)n;
	if (p->len == 0)
		p->start = 0;
	return 0;
}

int pump_step(struct pump *p, const struct pollfd *fds, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		if (!fds[i].revents)
			continue;
		if (fds[i].fd == p->from) {
			if (step_read(p, err) < 0)
				return -1;
		} else if (fds[i].fd == p->to && p->len > 0) {
			if (step_write(p, err) < 0)
				return -1;
		} else if (fds[i].fd == p->to && (fds[i].revents & POLLERR)) {
			p->is_broken = true;
			pump_drop(p);
		}
	}
	if (p->owns_to && pump_is_done(p))
		fd_close(&p->to);
	return 0;
}

void pump_drop(struct pump *p)
{
	if (p->owns_to)
		fd_close(&p->to);
	p->to = -1;
	p->start = p->len = 0;
}
