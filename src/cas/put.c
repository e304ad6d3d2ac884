/* SPDX-License-Identifier: Apache-2.0 */
/* Putting bytes into the store: see cas.h. */
#include <errno.h>
#include <unistd.h>

#include "cas/sink.h"

int cas_put(struct cas *c, const void *data, size_t len, const struct cas_about *about,
	char ret[DIGEST_TEXT], struct error *err)
{
	auto_sink struct sink *s = NULL;

	if (sink_open(c, NULL, NULL, &s, err) < 0 || sink_write(s, data, len, SINK_NEW, err) < 0)
		return -1;
	return sink_commit(s, about, ret, err);
}

int cas_put_fd(struct cas *c, int fd, const struct cas_about *about,
	const struct cas_progress *progress, char ret[DIGEST_TEXT], struct error *err)
{
	auto_sink struct sink *s = NULL;

	if (sink_open(c, NULL, progress, &s, err) < 0)
		return -1;
	for (;;) {
		unsigned char *to;
		size_t room;
		ssize_t n;

		if (sink_room(s, &to, &room, err) < 0)
			return -1;
		do
			n = read(fd, to, room);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return error_sys(err, "read");
		if (n == 0)
			break;
		if (sink_advance(s, (size_t)n, SINK_NEW, err) < 0)
			return -1;
	}
	return sink_commit(s, about, ret, err);
}
