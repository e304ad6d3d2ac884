/* SPDX-License-Identifier: Apache-2.0 */
/* The last steps of a put: what was written becomes an object, or is found to be one already. */
#ifndef CAS_PUBLISH_H
#define CAS_PUBLISH_H

#include <stdbool.h>

#include "cas/inside.h"

/* What has been written to tmp/NAME. */
struct publish {
	int fd;
	const char *tmp;
	const char *hex;
	uint64_t size; /* of the object */
	bool is_delta;
};

/*
 * The file in tmp is renamed or removed in any case but one: 1 when the object has to be made plain
 * first, since it replaces a plain one that was tampered with.
 */
MUST_CHECK int publish(
	struct cas *c, const struct publish *p, const struct cas_about *about, struct error *err);

#endif
