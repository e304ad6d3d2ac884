/* SPDX-License-Identifier: Apache-2.0 */
/* --image: from a reference to a root file system, and what the image's config says of a run. */
#ifndef RUN_IMAGE_H
#define RUN_IMAGE_H

#include "base/attr.h"
#include "base/error.h"
#include "image/image.h"
#include "run/options.h"
#include "wire/contract.h"

/* Stands for the root of an image that a runtime keeps: nothing can be there. */
#define RUN_IMAGE_ELSEWHERE "/dev/null/image"

/* The image of a run, held as long as this is open. */
struct run_image {
	struct images *store;
	struct image image;
	bool is_pinned; /* the reference has a digest */
};
void run_image_finish(struct run_image *r);
#define auto_run_image CLEANUP(run_image_finish)

/*
 * Finds, checks and unpacks the image of the options (which have one). A reference without a digest
 * is ERR_USAGE and says what it has now, unless they allow it.
 */
MUST_CHECK int run_image_open(
	const struct run_options *o, run_say *say, struct run_image *ret, struct error *err);
/* The same for what a tape names: the image's digest. */
MUST_CHECK int run_image_open_digest(const char *digest, struct run_image *ret, struct error *err);

/*
 * What the image says, as docker has it: ENTRYPOINT (--entrypoint) before the command, CMD where
 * none is given, PATH (before --env), USER (--user), WORKDIR (--workdir). Sets argv, env, uid, gid
 * and workdir of c, whose environment has its fixed entries already. Everything that runs an image,
 * on whatever substrate, goes through here, so that one digest gives one guest.
 */
MUST_CHECK int run_image_config(
	const struct image *i, const struct run_options *o, struct contract *c, struct error *err);

/* The directory of the root that gets a written layer: the workdir, resolved in the root. *ret is
 * NULL when it can have none (/, /usr, /tmp...). Caller frees. */
MUST_CHECK int run_image_copy_dir(
	const struct image *i, const char *workdir, char **ret, struct error *err);

#endif
