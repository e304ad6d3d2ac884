/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One interface to every place where a workspace can live. A driver is a table of functions and
 * nothing else; what it knows of one sandbox is in a directory of its own (`home`), so that another
 * process can open the sandbox again. Every driver keeps the promises of docs/format/session, to
 * which the conformance suite holds it.
 */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/error.h"
#include "cas/cas.h"
#include "cas/snapshot.h"
#include "sandbox/manifest.h"

/* What a backend offers; the names are those of manifests and reports. */
#define SANDBOX_CAPABILITIES(X) \
	X(FILE_RW, 0, "file_rw") \
	X(EXEC, 1, "exec") \
	X(NETWORK, 2, "network") \
	X(GPU, 3, "gpu") \
	X(SNAPSHOT, 4, "snapshot") \
	X(PERSISTENT_VOLUMES, 5, "persistent_volumes") \
	X(DETERMINISTIC, 6, "deterministic")

enum sandbox_capability {
#define X(symbol, bit, name) SANDBOX_##symbol = 1 << bit,
	SANDBOX_CAPABILITIES(X)
#undef X
};
enum { SANDBOX_CAPABILITY_COUNT = 7 };

/* The name of a capability's bit number, or NULL. */
const char *sandbox_capability_name(unsigned bit);
/* The bit of a name, or 0. */
unsigned sandbox_capability_find(const char *name);

/* What stands between a guest and the host, weakest first. */
enum sandbox_tier {
	SANDBOX_TIER_NONE,
	SANDBOX_TIER_PROCESS,
	SANDBOX_TIER_CONTAINER,
	SANDBOX_TIER_VM
};
const char *sandbox_tier_name(enum sandbox_tier tier);

/* A key of the manifest's `options` that a backend knows. */
enum sandbox_option_type { SANDBOX_OPTION_TEXT, SANDBOX_OPTION_NUMBER, SANDBOX_OPTION_FLAG };
struct sandbox_option {
	const char *name; /* NULL ends a table */
	enum sandbox_option_type type;
};

/* A sandbox that was created or opened again. Owned by the caller: sandbox_close. */
struct sandbox {
	const struct sandbox_driver *driver;
	char *home; /* absolute; the driver's own directory, made by the caller of sandbox_create */
	struct manifest manifest;
};

enum sandbox_stream { SANDBOX_OUT, SANDBOX_ERR };
/* Receives output as it comes. -1 with err set ends the program. */
typedef int sandbox_sink(
	void *arg, enum sandbox_stream stream, const void *data, size_t len, struct error *err);

enum { SANDBOX_OUTPUT_MAX = 16 * 1024 * 1024 };

/*
 * A program to run: argv[0] is looked up in PATH, never by a shell. The environment is the fixed
 * one (wire/environment.h), then the manifest's, then `env`; a later entry replaces an earlier one,
 * and nothing is the host's.
 */
struct sandbox_exec {
	char *const *argv;
	const char *cwd;     /* absolute below the root or relative to it; NULL: the root */
	char *const *env;    /* NAME=VALUE, NULL-terminated; or NULL */
	uint64_t timeout_ns; /* host time; 0: the manifest's */
	int input;	     /* becomes its standard input until its end; -1: empty */
	uint64_t output_max; /* of each stream; 0: SANDBOX_OUTPUT_MAX. What is over it is dropped */
	bool deterministic;  /* under the supervisor; needs the capability */
	sandbox_sink *sink;
	void *sink_arg;
	int stop; /* readable: the tree is killed and the end is STOPPED; -1: none. Borrowed */
};

enum sandbox_end {
	SANDBOX_EXITED,
	SANDBOX_SIGNALLED,
	SANDBOX_TIMED_OUT,	/* the whole tree was killed; the sandbox stays usable */
	SANDBOX_NOT_FOUND,	/* argv[0] is not there: not the program's own 127 */
	SANDBOX_NOT_EXECUTABLE, /* it is there and cannot be executed: not its own 126 */
	SANDBOX_DEADLOCKED,	/* deterministic runs only */
	SANDBOX_STOPPED,	/* the sandbox was shut down meanwhile */
};
const char *sandbox_end_name(enum sandbox_end end);

struct sandbox_result {
	enum sandbox_end end;
	int code;   /* of EXITED */
	int signal; /* of SIGNALLED */
	bool oom;
	bool out_truncated, err_truncated;
	uint64_t out_bytes, err_bytes;	  /* as produced, also what was dropped */
	uint64_t duration_ns;		  /* host time */
	bool was_deterministic, enforced; /* enforced: nothing was found that was not */
	char detail[256];		  /* why it is not enforced, or could not start */
};

/* The status that a shell would see: docs/man/sandglass-session. */
int sandbox_result_status(const struct sandbox_result *r);

struct sandbox_probe {
	bool available;
	char detail[256]; /* what is missing, or what it stands on */
};

struct sandbox_names {
	char **items; /* sorted by their bytes, dotfiles too */
	size_t count;
};
void sandbox_names_finish(struct sandbox_names *n);
#define auto_sandbox_names CLEANUP(sandbox_names_finish)

/*
 * Paths are absolute below the manifest's root, or relative to it. A path that leaves the root,
 * also through a symbolic link, is ERR_ESCAPE; what is not there ERR_MISSING; a directory where a
 * file is needed ERR_IS_DIR; a file where a directory is needed ERR_NOT_DIR.
 */
struct sandbox_driver {
	const char *name, *summary;
	const char *warning; /* what it does not isolate, or NULL */
	unsigned capabilities;
	enum sandbox_tier tier;
	const struct sandbox_option *options; /* NULL: it has none */

	/* Looks whether this host can; never fails for that reason. */
	int (*probe)(struct sandbox_probe *ret, struct error *err);
	/* Fills an empty home as the manifest says. What a failure leaves in home is swept away. */
	int (*create)(struct sandbox *s, struct error *err);
	/* Fills an empty home with the tree of a snapshot. Needs SNAPSHOT, as freeze does. */
	int (*thaw)(struct sandbox *s, struct cas *c, const char *digest, struct error *err);
	/*
	 * Fills an empty home with what another sandbox of this driver holds, in which nobody works
	 * meanwhile; *ret_how is a word for how (static). NULL: forks are thawed from a snapshot.
	 */
	int (*copy)(
		struct sandbox *s, struct sandbox *from, const char **ret_how, struct error *err);
	int (*exec)(struct sandbox *s, const struct sandbox_exec *x, struct sandbox_result *ret,
		struct error *err);
	/* The whole of a regular file (caller frees); more than max is ERR_LIMIT. */
	int (*read)(struct sandbox *s, const char *path, size_t max, char **ret, size_t *ret_len,
		struct error *err);
	/* Makes parents; replaces in one step; the mode is exactly this. */
	int (*write)(struct sandbox *s, const char *path, const void *data, size_t len,
		unsigned mode, struct error *err);
	int (*ls)(
		struct sandbox *s, const char *path, struct sandbox_names *ret, struct error *err);
	/* The workspace as a tree in the store; ERR_BUSY when it does not hold still. */
	int (*freeze)(struct sandbox *s, struct cas *c, const struct snapshot_policy *policy,
		char ret[DIGEST_TEXT], struct error *err);
	/* Ends what runs; the workspace stays until destroy. Both: again is success. */
	int (*shutdown)(struct sandbox *s, struct error *err);
	int (*destroy)(struct sandbox *s, struct error *err);
};

/* Takes nothing: home and manifest are copied. The driver is found by name. */
MUST_CHECK int sandbox_open(struct sandbox *ret, const char *driver, const char *home,
	const struct manifest *m, struct error *err);
void sandbox_close(struct sandbox *s);
#define auto_sandbox CLEANUP(sandbox_close)

/* The built-in drivers, in the order of lists. */
const struct sandbox_driver *const *sandbox_drivers(size_t *ret_count);
/* ERR_MISSING lists the names that there are. */
MUST_CHECK int sandbox_driver_find(
	const char *name, const struct sandbox_driver **ret, struct error *err);
/*
 * ERR_UNSUPPORTED names the capability that the manifest requires and the driver lacks, ERR_FORMAT
 * an option that it does not have or of another type.
 */
MUST_CHECK int sandbox_check(
	const struct sandbox_driver *d, const struct manifest *m, struct error *err);

#endif
