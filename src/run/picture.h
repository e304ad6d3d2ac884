/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run as a page: logical time from left to right, a lane a task, what came in, timers, signals
 * and switches; and the same as a list. HTML that needs no script and asks for nothing.
 */
#ifndef RUN_PICTURE_H
#define RUN_PICTURE_H

#include "base/attr.h"
#include "base/bytes.h"
#include "base/error.h"
#include "codec/json.h"
#include "run/decisions.h"
#include "tape/tape.h"

enum { PICTURE_MAX = 4000 }; /* events drawn: the first so many */

struct picture {
	const json_t *header;		   /* the tape's */
	struct tape_reader *tape;	   /* what came in */
	const struct decisions *decisions; /* kept ones of a replay, or NULL: the tape alone */
	const struct bytes *moments;	   /* of the replay: one_spec.moments; or NULL */
};

/* Writes the page. What tape and decisions hold is taken for hostile text. */
MUST_CHECK int picture_write(int fd, const struct picture *p, struct error *err);

#endif
