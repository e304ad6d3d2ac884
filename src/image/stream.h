/* SPDX-License-Identifier: Apache-2.0 */
/* The decompressed bytes of a stream, shown and bounded on the way. Needs libarchive. */
#ifndef IMAGE_STREAM_H
#define IMAGE_STREAM_H

#include <archive.h>

#include "image/archive.h"

struct stream {
	const struct archive_input *in;
	struct archive *filter; /* the decompressor */
	uint64_t left;		/* bytes that may still come */
	uint64_t bound;		/* for the message */
	struct error err;	/* of the source, or of the bound; code 0: none */
	bool ended;
};

/* left is what the stream may still give; bound is said when it gives more. */
MUST_CHECK int stream_open(struct stream *s, const struct archive_input *in, uint64_t left,
	uint64_t bound, struct error *err);
/* The next decompressed bytes: 1, 0 at the end, -1. */
MUST_CHECK int stream_next(
	struct stream *s, const void **ret_data, size_t *ret_len, struct error *err);
/* Reads the rest. */
MUST_CHECK int stream_end(struct stream *s, struct error *err);
void stream_close(struct stream *s);

/* What libarchive says, as our error. */
int stream_fail(struct archive *a, const char *what, struct error *err);

#endif
