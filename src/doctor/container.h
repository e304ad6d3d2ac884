/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a container runtime will do, with an image: tried with the supervisor that runs have. */
#ifndef DOCTOR_CONTAINER_H
#define DOCTOR_CONTAINER_H

#include <stddef.h>

#include "doctor/doctor.h"

enum { CONTAINER_ROWS_MAX = 16 };

struct container_row {
	char name[24]; /* what was tried */
	struct doctor_finding finding;
};

struct container_report {
	struct container_row rows[CONTAINER_ROWS_MAX];
	size_t count;
};

/*
 * Tries the runtime ("docker", "podman", "nerdctl", or "auto"), and with an image (NULL: none) a
 * container of it. What cannot be tried since something before it is missing has no row.
 */
void container_try(const char *runtime, const char *image, struct container_report *ret);
enum doctor_level container_verdict(const struct container_report *r);

#endif
