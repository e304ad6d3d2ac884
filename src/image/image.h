/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Container images without a daemon: kept by digest in the store of content, unpacked once, used
 * read-only. Docs: docs/format/image.md.
 *
 * An image is named by the digest of its manifest, by that of an index that leads to it, or by that
 * of its config (docker's "image id"). Manifest and config are hashed whenever they are used,
 * layers when they are unpacked and by image_verify. An image is either there whole or not at all,
 * whatever is killed at what moment.
 */
#ifndef IMAGE_IMAGE_H
#define IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "cas/cas.h"
#include "crypto/digest.h"
#include "image/config.h"
#include "image/reference.h"

/* Bounds of what is unpacked; beyond them ERR_LIMIT. */
#define IMAGE_BYTES_MAX (16ull << 30)
enum { IMAGE_ENTRIES_MAX = 2000000 };

/* The images of the user, beside the store of content in the directory of state. */
struct images;
MUST_CHECK int images_open(enum cas_mode mode, struct images **ret, struct error *err);
void images_close(struct images *s);
void images_cleanup(struct images **s);
#define auto_images CLEANUP(images_cleanup)

/* What is known of an image without unpacking it. Owns what it points to: image_finish. */
struct image {
	char digest[DIGEST_TEXT];	 /* of the manifest: what a run is pinned to */
	char config_digest[DIGEST_TEXT]; /* docker calls it the image's id */
	char chain[DIGEST_TEXT]; /* of the layers' contents in their order (OCI: chain id) */
	struct image_config config;
	struct image_manifest manifest;
	char *root; /* image_use: the directory with the unpacked image, read-only by convention */
	int lock;   /* image_use: as long as it is open nobody removes that; else -1 */
	uint64_t unpacked_entries; /* image_use: made just now; 0: it was there */
	uint64_t left_out; /* device nodes and attributes that only root can make, when unpacked */
};
void image_finish(struct image *i);
#define auto_image CLEANUP(image_finish)

/*
 * The image of a reference. With a digest that alone decides. Without one the name is looked up
 * among the names of this store (nothing is asked of a registry). ERR_MISSING says the command that
 * gets it. Manifest and config are read and hashed.
 */
MUST_CHECK int image_find(
	struct images *s, const struct image_ref *ref, struct image *ret, struct error *err);

/*
 * Unpacks the image where that was not done yet, and holds it: root and lock of *i are set. One
 * that is for another architecture or system is ERR_UNSUPPORTED.
 */
MUST_CHECK int image_use(
	struct images *s, struct image *i, const struct cas_progress *progress, struct error *err);

/* ERR_UNSUPPORTED names what it is for when it is not for this machine. */
MUST_CHECK int image_check_platform(const struct image *i, struct error *err);

/* The ids of the image's USER, or of `user` where it is not NULL: NAME|UID[:GROUP|GID], looked up
 * in the image's own passwd and group. The image must be in use. */
MUST_CHECK int image_user(const struct image *i, const char *user, uint32_t *ret_uid,
	uint32_t *ret_gid, struct error *err);

enum image_format { IMAGE_AUTO, IMAGE_OCI, IMAGE_DOCKER, IMAGE_ROOTFS, IMAGE_FORMATS };
extern const char *const image_format_names[IMAGE_FORMATS]; /* "auto" and so on */

struct image_import {
	enum image_format format;
	const char *name; /* NAME[:TAG] to give it, or NULL: what the archive says, if anything */
	const char *command;		     /* of a plain root: its CMD, a shell line, or NULL */
	uint64_t max_bytes;		     /* 0: IMAGE_BYTES_MAX */
	const struct cas_progress *progress; /* may be NULL */
};
/*
 * Imports a file or directory and unpacks it: OCI layout, docker archive, skopeo's "dir", or a
 * plain root file system (a tar, compressed or not, or a directory). *ret is the image.
 */
MUST_CHECK int image_import(struct images *s, const char *path, const struct image_import *o,
	struct image *ret, struct error *err);
/* From a registry, by skopeo(1). With a digest in the reference nothing else is taken. */
MUST_CHECK int image_pull(struct images *s, const char *ref, const struct image_import *o,
	struct image *ret, struct error *err);

/* A name in the store. */
struct image_name {
	char *name; /* NAME:TAG */
	char digest[DIGEST_TEXT];
};
struct image_names {
	struct image_name *items;
	size_t count;
};
void image_names_finish(struct image_names *n);
#define auto_image_names CLEANUP(image_names_finish)
/* All names, sorted. */
MUST_CHECK int image_names(struct images *s, struct image_names *ret, struct error *err);
/* The image with this manifest: read and hashed. 1, or 0 when there is none. */
MUST_CHECK int image_load(
	struct images *s, const char digest[DIGEST_TEXT], struct image *ret, struct error *err);
/* The manifests of all images, sorted (caller frees). */
MUST_CHECK int image_list(
	struct images *s, char (**ret)[DIGEST_TEXT], size_t *ret_count, struct error *err);
/* Bytes of the unpacked root and whether there is one. */
bool image_is_unpacked(const struct images *s, const struct image *i);

/*
 * Hashes every part, layers and their contents too, and compares the unpacked root with what the
 * layers hold. ERR_TAMPERED or ERR_MISSING say what is wrong. A root that differs is taken away, so
 * that the next use unpacks it anew.
 */
MUST_CHECK int image_verify(
	struct images *s, struct image *i, const struct cas_progress *progress, struct error *err);

/* Forgets a name; and the image, when that was its last name or the reference is a digest.
 * *ret_gone: it is. ERR_BUSY while a run uses it. */
MUST_CHECK int image_remove(
	struct images *s, const struct image_ref *ref, bool *ret_gone, struct error *err);

struct image_gc {
	bool is_dry;	/* in: only tell */
	bool all_roots; /* in: every unpacked root that nobody uses, not only those of no image */
	uint64_t roots, objects,
		bytes; /* out: unpacked roots, objects of the store and their bytes */
};
MUST_CHECK int image_gc(struct images *s, struct image_gc *gc, struct error *err);

#endif
