/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON of images: index, manifest and config of the OCI image specification 1.1 and of docker's
 * schema 2, whose fields are the same. What comes in is from anybody; members that we do not use
 * are passed over.
 */
#ifndef IMAGE_CONFIG_H
#define IMAGE_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "crypto/digest.h"

enum {
	IMAGE_JSON_MAX = 1 << 20, /* bytes of one of these texts */
	IMAGE_LAYERS_MAX = 512,
	IMAGE_STRINGS_MAX = 4096,
};

/* A part of an image, by digest. */
struct image_blob {
	char digest[DIGEST_TEXT];
	uint64_t size;
};

struct image_manifest {
	struct image_blob config;
	struct image_blob *layers; /* the lowest first */
	size_t layer_count;
};

/* How to run it. Absent members are NULL. */
struct image_config {
	char *architecture, *os, *variant; /* in Go's words: "amd64", "linux", "v8" */
	char *workdir, *user;
	char **env, **entrypoint, **cmd; /* NULL-terminated */
	char (*diff_ids)[DIGEST_TEXT];	 /* digests of the layers, uncompressed */
	size_t diff_count;
};

MUST_CHECK int image_manifest_parse(
	const char *text, size_t len, struct image_manifest *ret, struct error *err);
void image_manifest_finish(struct image_manifest *m);
#define auto_image_manifest CLEANUP(image_manifest_finish)

MUST_CHECK int image_config_parse(
	const char *text, size_t len, struct image_config *ret, struct error *err);
void image_config_finish(struct image_config *c);
#define auto_image_config CLEANUP(image_config_finish)

/* 1 when the text is an index (docker: a manifest list), 0 when it is none. */
int image_index_is(const char *text, size_t len);
/*
 * The manifest of an index that is for this architecture and Linux; ERR_UNSUPPORTED names those
 * that there are. *ret_name (may be NULL; caller frees) is the name that an OCI layout gives it, or
 * NULL.
 */
MUST_CHECK int image_index_choose(
	const char *text, size_t len, struct image_blob *ret, char **ret_name, struct error *err);

/* This machine's architecture in Go's words. */
const char *image_architecture(void);
/* The chain id of the layers' contents (OCI image specification, "Layer ChainID"). */
void image_chain(const struct image_config *c, char ret[DIGEST_TEXT]);

#endif
