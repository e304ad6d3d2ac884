/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Containers made by docker, podman or nerdctl, through their command lines: the user's own image,
 * unchanged, with our static supervisor bound into it as its init. What the guest sees is what it
 * sees in the native container, but for what the manual of sandglass run lists.
 */
#ifndef OCI_OCI_H
#define OCI_OCI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"
#include "image/image.h"
#include "launch/launch.h"
#include "oci/dialect.h"
#include "oci/words.h"

struct oci {
	const struct dialect *dialect;
	struct words program; /* its words: the program's name, and what always follows it */
};

/*
 * "docker", "podman" or "nerdctl", or "auto": the first of them that can be used now. The setting
 * of that name (SANDGLASS_DOCKER) stands in for the program: words, as "podman --runtime runc".
 */
MUST_CHECK int oci_open(const char *name, struct oci *ret, struct error *err);
void oci_finish(struct oci *r);
#define auto_oci CLEANUP(oci_finish)
/* Whether it can be used now; *ret_version (caller frees) is what it says of itself. */
MUST_CHECK int oci_check(const struct oci *r, char **ret_version, struct error *err);

/* An image that the runtime has. */
struct oci_image {
	char *ref;	/* as it is given to the runtime */
	char *pinned;	/* a reference that names a digest: ref, or what it would be */
	bool is_pinned; /* ref does */
	char **digests; /* all that name it, "sha256:..."; NULL-terminated */
	struct image
		image; /* its digest and its config; root is NULL: it is nowhere on this host */
};

/* Looks the image up, without any network. */
MUST_CHECK int oci_image_find(
	const struct oci *r, const char *ref, struct oci_image *ret, struct error *err);
void oci_image_finish(struct oci_image *i);
#define auto_oci_image CLEANUP(oci_image_finish)
/* The digest names this image. */
bool oci_image_is(const struct oci_image *i, const char *digest);

struct oci_spec {
	const struct oci *runtime;
	const char *image; /* oci_image.ref */
	int interrupt;	   /* readable: the start is given up; -1: none */
};

/* As launch_start. The caller frees *ret with launch_free. */
MUST_CHECK int oci_start(const struct oci_spec *r, const struct launch_spec *spec,
	struct launch **ret, struct error *err);
/* The command line that oci_start would run, as a shell takes it (caller frees). Names in it
 * that only a run makes are as in a run, but for their random part. */
MUST_CHECK int oci_command(
	const struct oci_spec *r, const struct launch_spec *spec, char **ret, struct error *err);

#endif
