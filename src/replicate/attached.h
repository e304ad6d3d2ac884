/* SPDX-License-Identifier: Apache-2.0 */
/* A runtime's client that is attached to a container: its streams read, digested and dropped. */
#ifndef REPLICATE_ATTACHED_H
#define REPLICATE_ATTACHED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "crypto/digest.h"

enum { ATTACHED_TAIL = 200 };

struct attached {
	int code;	     /* it exited with; 128 + n when signal n killed it */
	bool is_timed_out;   /* it was still there when the time was over, and was killed */
	bool is_interrupted; /* we were signalled */
	uint64_t out_bytes, err_bytes;
	char out[DIGEST_TEXT], err[DIGEST_TEXT];
	char tail[ATTACHED_TAIL + 1]; /* the end of its standard error, as it is */
	size_t tail_len;
};

/* Runs the words to their end, or until so much of the host's time is over. */
MUST_CHECK int attached_run(
	char *const *argv, uint64_t timeout_ns, struct attached *ret, struct error *err);

#endif
