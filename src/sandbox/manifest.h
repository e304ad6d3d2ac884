/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workspace manifest: what a sandbox holds at its start. docs/format/manifest is its page.
 * JSON; unknown keys, wrong types and values out of range are errors that name the key.
 */
#ifndef SANDBOX_MANIFEST_H
#define SANDBOX_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"

enum { MANIFEST_TEXT_MAX = 16 * 1024 * 1024, MANIFEST_TIMEOUT_SECONDS = 1800 };

struct manifest_file {
	char *path;
	char *content; /* or NULL: taken from `source` */
	size_t content_len;
	char *source; /* a regular file of the host, or NULL */
	unsigned mode;
};

struct manifest_repo {
	char *src_path;	     /* NULL: there is no repo */
	char *branch;	     /* or NULL: what HEAD names */
	bool trusted;	     /* whoever made it may let it lead elsewhere */
	char **sparse_paths; /* NULL-terminated, or NULL: all */
};

/* Owns everything: manifest_finish. */
struct manifest {
	char *root;	   /* absolute, "/workspace" */
	unsigned requires; /* bits of enum sandbox_capability */
	struct manifest_repo repo;
	struct manifest_file *files;
	size_t file_count;
	char **env; /* NAME=VALUE sorted by name, NULL-terminated; or NULL */
	uint64_t timeout_seconds;
	uint64_t memory_bytes; /* 0: the default of the contract */
	uint64_t pids;	       /* 0: the default of the contract */
	bool network;	       /* false: "none", the default */
	char *options;	       /* an object of the backend's, as JSON; NULL: none */
};

/* The defaults. */
void manifest_init(struct manifest *m);
void manifest_finish(struct manifest *m);
#define auto_manifest CLEANUP(manifest_finish)

/* Relative host paths in it start at `base`. ERR_FORMAT or ERR_USAGE names the key. */
MUST_CHECK int manifest_parse(
	const char *text, size_t len, const char *base, struct manifest *ret, struct error *err);
/*
 * What outlives the start, as canonical JSON (caller frees): root, env, time-out, limits, network
 * and options, without repo and files. It travels with a snapshot.
 */
char *manifest_kept(const struct manifest *m);

#endif
