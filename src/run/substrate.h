/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run stands on: the host's programs, or an image, in the native container or in a
 * runtime's.
 */
#ifndef RUN_SUBSTRATE_H
#define RUN_SUBSTRATE_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"
#include "oci/oci.h"
#include "run/image.h"
#include "run/options.h"

struct substrate {
	struct run_image native; /* store NULL: no image of ours */
	struct oci runtime;
	struct oci_image found; /* ref NULL: no image of a runtime's */
	struct oci_spec spec;
};

/* --runtime and --image of the options. A tag is refused, with what would pin it. */
MUST_CHECK int substrate_open(
	struct substrate *ret, const struct run_options *o, run_say *say, struct error *err);
void substrate_close(struct substrate *s);

/* The image, or NULL: the host's programs. Borrowed, as all of these. */
const struct image *substrate_image(const struct substrate *s);
/* As the runtime has it, or NULL. */
const struct oci_image *substrate_given(const struct substrate *s);
/* Who makes the container; NULL: we do. */
const struct oci_spec *substrate_runtime(const struct substrate *s);
/* The image was named without a digest. */
bool substrate_is_tag(const struct substrate *s);

#endif
