/* SPDX-License-Identifier: Apache-2.0 */
/* References to images as people write them: NAME[:TAG][@DIGEST], or a digest alone. */
#ifndef IMAGE_REFERENCE_H
#define IMAGE_REFERENCE_H

#include "base/attr.h"
#include "base/error.h"
#include "crypto/digest.h"

/* Names are those of the distribution specification; "docker.io/library/x" is "x". */
struct image_ref {
	char *name;		  /* NULL: only a digest was given */
	char *tag;		  /* NULL: none was given */
	char digest[DIGEST_TEXT]; /* "" when there is none */
};

/* ERR_USAGE says what is wrong with it. */
MUST_CHECK int image_ref_parse(const char *text, struct image_ref *ret, struct error *err);
void image_ref_finish(struct image_ref *r);
#define auto_image_ref CLEANUP(image_ref_finish)

/* "NAME:TAG", the tag "latest" where none was given; NULL without a name. Caller frees. */
char *image_ref_name(const struct image_ref *r);
/* Whether the registry of the reference is this machine's own (loopback), where TLS is not asked
 * for. */
int image_ref_is_local(const struct image_ref *r);

#endif
