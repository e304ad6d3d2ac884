/* SPDX-License-Identifier: Apache-2.0 */
/* inotify's cookies: see inotify.h. */
#include "supervise/io/inotify.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "supervise/io/stream.h"

enum { COOKIES = 256 };

/* The last cookies that were seen, and their numbers. */
static struct {
	uint32_t cookie, number;
} seen[COOKIES];
static uint32_t last_number;
static bool made, over;

void inotify_made(void)
{
	made = true;
}

bool inotify_is_used(void)
{
	return made && !over;
}

void inotify_over(void)
{
	over = true;
}

bool inotify_is(const struct gfd *g)
{
	char name[64];

	if (!made || g->kind != FDKIND_ANON)
		return false;
	gfd_anon_name(g, name, sizeof(name));
	return strcmp(name, "inotify") == 0;
}

static uint32_t number_of(uint32_t cookie)
{
	for (size_t i = 0; i < COOKIES; i++)
		if (seen[i].number && seen[i].cookie == cookie)
			return seen[i].number;
	last_number++;
	seen[last_number % COOKIES].cookie = cookie;
	seen[last_number % COOKIES].number = last_number;
	return last_number;
}

static void renumber(char *events, size_t len)
{
	struct inotify_event e;

	for (size_t at = 0; at + sizeof(e) <= len; at += sizeof(e) + e.len) {
		memcpy(&e, events + at, sizeof(e));
		if (!e.cookie)
			continue;
		e.cookie = number_of(e.cookie);
		memcpy(events + at, &e, sizeof(e));
	}
}

enum act inotify_read(struct task *t, struct call *c, struct gfd *g, const struct giov *v)
{
	size_t len = v->total < STREAM_CHUNK ? v->total : STREAM_CHUNK;
	ssize_t n;

	gfd_set_nonblock(g);
	n = read(g->fd, stream_chunk, len);
	if (n < 0)
		return errno == EAGAIN ? ACT_NATIVE : call_done(c, -errno);
	renumber(stream_chunk, (size_t)n);
	return call_done(c, giov_put(v, t, 0, stream_chunk, (size_t)n));
}
