/* SPDX-License-Identifier: Apache-2.0 */
/* The decompressed bytes of a stream: see stream.h. */
#include "image/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "base/mem.h"

int stream_fail(struct archive *a, const char *what, struct error *err)
{
	const char *text = archive_error_string(a);
	autofree char *shown =
		str_printable(text ? text : "unknown", strlen(text ? text : "unknown"), 200);

	return error_set(err, ERR_FORMAT, "%s: %s", what, shown);
}

static la_ssize_t pull(struct archive *a, void *context, const void **ret)
{
	struct stream *s = context;
	size_t len = 0;
	int got = s->in->next(s->in->context, ret, &len, &s->err);

	if (got < 0)
		archive_set_error(a, EIO, "%s", s->err.msg);
	return got <= 0 ? got : (la_ssize_t)len;
}

int stream_open(struct stream *s, const struct archive_input *in, uint64_t left, uint64_t bound,
	struct error *err)
{
	struct archive_entry *ignored;
	int r;

	*s = (struct stream){.in = in, .filter = archive_read_new(), .left = left, .bound = bound};
	if (!s->filter)
		return error_set(err, ERR_SYSTEM, "libarchive gives no reader");
	archive_read_support_filter_gzip(s->filter);
	archive_read_support_filter_zstd(s->filter);
	archive_read_support_filter_xz(s->filter);
	archive_read_support_filter_bzip2(s->filter);
	archive_read_support_format_raw(s->filter);
	archive_read_support_format_empty(s->filter);
	r = archive_read_open(s->filter, s, NULL, pull, NULL);
	if (r == ARCHIVE_OK)
		r = archive_read_next_header(s->filter, &ignored);
	s->ended = r == ARCHIVE_EOF;
	if (r == ARCHIVE_OK || r == ARCHIVE_EOF)
		return 0;
	if (s->err.code) {
		*err = s->err;
		return -1;
	}
	return stream_fail(s->filter, "the stream cannot be read", err);
}

int stream_next(struct stream *s, const void **ret_data, size_t *ret_len, struct error *err)
{
	la_int64_t offset;
	int r;

	do {
		r = s->ended ? ARCHIVE_EOF
			     : archive_read_data_block(s->filter, ret_data, ret_len, &offset);
	} while (r == ARCHIVE_OK && *ret_len == 0);
	if (r == ARCHIVE_EOF) {
		s->ended = true;
		return 0;
	}
	if (r != ARCHIVE_OK) {
		if (!s->err.code)
			return stream_fail(s->filter, "the stream cannot be decompressed", err);
		*err = s->err;
		return -1;
	}
	if (*ret_len > s->left)
		return error_set(err, ERR_LIMIT,
			"it unpacks to more than the limit of %" PRIu64
			" bytes; --max-size allows more",
			s->bound);
	s->left -= *ret_len;
	if (s->in->seen)
		s->in->seen(s->in->context, *ret_data, *ret_len);
	return 1;
}

int stream_end(struct stream *s, struct error *err)
{
	const void *data;
	size_t len;
	int got;

	while ((got = stream_next(s, &data, &len, err)) > 0)
		;
	if (got < 0)
		return -1;
	/* What follows a compressed stream is not looked at, but the source's end proves it. */
	do {
		got = s->in->next(s->in->context, &data, &len, err);
	} while (got > 0);
	return got;
}

void stream_close(struct stream *s)
{
	if (s->filter)
		archive_read_free(s->filter);
	*s = (struct stream){0};
}
