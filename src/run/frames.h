/* SPDX-License-Identifier: Apache-2.0 */
/* What each control frame of the supervisor means for a run's result. */
#ifndef RUN_FRAMES_H
#define RUN_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/error.h"
#include "run/feed.h"
#include "run/one.h"

struct frames_state {
	bool has_started;  /* STARTED came: there is a guest that signals can go to */
	bool has_end;	   /* the result's end is known */
	struct feed *feed; /* where questions for input go; NULL: there may be none */
};

/* Takes one frame into the result. A payload that is none of its type is ERR_FORMAT. */
MUST_CHECK int frames_take(const struct one_spec *spec, struct one_result *r,
	struct frames_state *seen, uint32_t type, struct bytes_reader *payload, struct error *err);

#endif
