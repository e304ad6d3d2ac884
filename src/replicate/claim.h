/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest of a published claim: what it stands on, how it is computed, which numbers come out.
 * docs/format/replication has every member.
 */
#ifndef REPLICATE_CLAIM_H
#define REPLICATE_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "codec/json.h"
#include "crypto/digest.h"

#define CLAIM_FORMAT "sandglass.replication/1"

enum {
	CLAIM_TEXT_MAX = 1 << 20, /* bytes of a manifest */
	CLAIM_DATA_MAX = 4096,	  /* data sets */
	CLAIM_TARGETS_MAX = 4096,
	CLAIM_VIOLATIONS_MAX = 100,
	CLAIM_COMMIT_SIZE = 41,
};

struct claim_data {
	char *name, *path; /* path: relative to the data directory, tidy */
	char digest[DIGEST_TEXT];
	uint64_t bytes;
};

enum tolerance_kind { TOLERANCE_ABSOLUTE, TOLERANCE_RELATIVE, TOLERANCE_INTERVAL, TOLERANCES };
extern const char *const tolerance_names[TOLERANCES];

struct tolerance {
	enum tolerance_kind kind;
	double low, high; /* absolute and relative: high alone */
};

struct claim_target {
	char *name, *unit; /* unit may be NULL */
	double value;
	struct tolerance tolerance;
};

struct claim_limits {
	uint64_t timeout_ns, memory_bytes, pids;
	uint64_t cpus_milli; /* thousandths of a CPU */
	uint64_t tmp_bytes, tmp_files, output_bytes, output_files;
};

/* Owns what it points to: claim_finish. */
struct claim {
	char digest[DIGEST_TEXT];		    /* of the manifest's bytes */
	char *id, *text, *repository, *working_dir; /* text, repository, working_dir may be NULL */
	char commit[CLAIM_COMMIT_SIZE];
	char image[DIGEST_TEXT];
	char *entrypoint;
	char **env; /* NAME=VALUE, sorted, NULL-terminated; or NULL */
	bool has_seed, needs_gpu;
	int64_t seed;
	char **cpu_flags; /* as /proc/cpuinfo names them; NULL-terminated or NULL */
	struct claim_data *data;
	size_t data_count;
	struct claim_target *targets;
	size_t target_count;
	struct claim_limits limits;
};

void claim_finish(struct claim *c);
#define auto_claim CLEANUP(claim_finish)

/* What is wrong with a manifest: a line each, "data[0].sha256: ...". */
struct violations {
	char *items[CLAIM_VIOLATIONS_MAX];
	size_t count;
	bool more; /* there were too many */
};

void violations_finish(struct violations *f);
#define auto_violations CLEANUP(violations_finish)
void violations_add(struct violations *f, const char *fmt, ...) PRINTF_LIKE(2, 3);

/*
 * Of bytes from anybody: 0 and the claim; or -1 with ERR_FORMAT and every violation that there is
 * in f, or the one reason why it is no JSON.
 */
MUST_CHECK int claim_parse(
	const char *text, size_t len, struct claim *ret, struct violations *f, struct error *err);

#endif
