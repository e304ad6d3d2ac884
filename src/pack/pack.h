/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pack's manifest and what its code says of itself: docs/format/pack.md lists every key.
 */
#ifndef PACK_PACK_H
#define PACK_PACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"
#include "codec/json.h"
#include "pack/bundle.h"
#include "pack/faults.h"

/* What runs of a pack: one of the two. Owned: pack_code_finish. */
struct pack_code {
	char **exec;   /* words, NULL-terminated; a first one with a slash is from the root */
	char *library; /* a path from the root: a shared object with sandglass_pack_v1 */
};
void pack_code_finish(struct pack_code *c);
#define auto_pack_code CLEANUP(pack_code_finish)

/*
 * manifest.toml of this text: every violation of its rules is a fault. *ret (the caller owns it) is
 * the whole text, unknown keys too, or stays NULL when it is no TOML.
 */
void pack_manifest_read(const char *text, size_t len, json_t **ret, struct faults *faults);
/* The manifest in dir, which may be one that somebody writes to; what is not there is a fault. */
MUST_CHECK int pack_manifest_load(int dir, json_t **ret, struct faults *faults, struct error *err);

/*
 * The code: [code] of the manifest (may be NULL), else a file of the bundle by the name of pack.so,
 * main, main.sh, main.py or main.js. Faults when there is none.
 */
void pack_code_find(const json_t *manifest, const struct bundle *b, struct pack_code *ret,
	struct faults *faults);

/*
 * Both ways: what the manifest declares and the code has not, and what the code has and the
 * manifest does not declare, are faults. described: the code's own answer (docs/format/pack.md).
 */
void pack_surface_check(const json_t *manifest, const json_t *described, struct faults *faults);
/* Whether such an answer has the form that it should have; what is wrong are faults. */
void pack_described_check(const json_t *described, struct faults *faults);

/*
 * Writes a new pack into dir, which may not be there or is empty. lang: sh, c, python or node, else
 * ERR_USAGE. What it prints of itself is complete: its trial is outcome completed.
 */
MUST_CHECK int pack_scaffold(const char *dir, const char *lang, struct error *err);

#endif
