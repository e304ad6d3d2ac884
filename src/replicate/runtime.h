/* SPDX-License-Identifier: Apache-2.0 */
/* What an entrypoint is run in: a table of functions a runtime, one file each. */
#ifndef REPLICATE_RUNTIME_H
#define REPLICATE_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "codec/json.h"
#include "crypto/digest.h"
#include "replicate/claim.h"

enum setting {
#define X(name, word, meaning) SETTING_##name,
#include "replicate/setting.def"
#undef X
	SETTINGS
};
const char *setting_word(enum setting s);

/* The settings that hold, and why one does not. */
struct isolation {
	char *degraded[SETTINGS]; /* NULL: it holds; owned */
};
void isolation_finish(struct isolation *i);
#define auto_isolation CLEANUP(isolation_finish)
/* The first reason stays. */
void isolation_degrade(struct isolation *i, enum setting s, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Of the contract of execution: what the analysis finds where. */
#define JOB_CODE "/work/code"
#define JOB_DATA "/work/data"
#define JOB_OUT "/work/out"
enum { JOB_UID = 10001 };

struct runtime;
struct held;

/* What is to be run; all borrowed, directories real and absolute. */
struct job {
	const struct claim *claim;
	const char *code, *data, *out;
	int out_fd;		/* the directory `out` itself, whatever is mounted over it */
	const char *image;	/* REF@sha256:... */
	const char *rootfs;	/* native: the directory that becomes /; NULL: what the image is
				   unpacked to */
	bool has_host_programs; /* native: the host's own in the place of an image */
	bool is_deterministic;
	const struct runtime *runtime;
	struct held *held; /* of the runtime, from prepare to release */
};

enum end { END_EXITED, END_SIGNALLED, END_OOM, END_TIMED_OUT, END_NOT_STARTED, END_DEADLOCKED };

/* What became of one run. */
struct execution {
	enum end end;
	int code, signal;
	char detail[256]; /* of NOT_STARTED and DEADLOCKED; and the end of what it said otherwise */
	char out[DIGEST_TEXT], err[DIGEST_TEXT];
	uint64_t out_bytes, err_bytes;
	bool is_enforced;   /* deterministic: nothing was found that was not */
	json_t *reasons;    /* deterministic: codes of what was not enforced; owned */
	int output;	    /* directory with what it wrote; owned */
	bool output_is_out; /* it is job.out itself, and not a place that will be gone */
};
void execution_finish(struct execution *e);
/* The end of what it said becomes its detail, on one line and else as it is: findings_add makes
 * it safe to print. */
void execution_take_said(struct execution *e, const char *text, size_t len);
#define auto_execution CLEANUP(execution_finish)

struct runtime {
	const char *name, *summary;
	bool can_hold;		  /* it has --deterministic */
	const char *dialect;	  /* of a container runtime: whose command line it is */
	const char *const *extra; /* words of its own for that, NULL-terminated; or NULL */
	/*
	 * Looks whether the job can be run here and fills what will not hold of the settings. An
	 * error is the operator's.
	 */
	int (*prepare)(struct job *j, struct isolation *ret, struct error *err);
	/* Lets go of what prepare holds; NULL: nothing. */
	void (*release)(struct job *j);
	/* The command that run would make, a line (caller frees); starts nothing. */
	char *(*command)(const struct job *j);
	/*
	 * Runs the entrypoint once, with an empty output. -1: the engine failed, which says nothing
	 * of the claim. What is found not to hold only now goes into *isolation.
	 */
	int (*run)(const struct job *j, struct isolation *isolation, struct execution *ret,
		struct error *err);
};

extern const struct runtime runtime_native, runtime_docker, runtime_podman, runtime_nerdctl,
	runtime_runsc;
/* ERR_USAGE lists those that there are. */
MUST_CHECK int runtime_find(const char *name, const struct runtime **ret, struct error *err);

/* The variables of the analysis, NAME=VALUE and NULL-terminated: the claim's and the contract's. */
char **job_environment(const struct job *j);
void job_environment_free(char **env);
/* Where the entrypoint starts, inside (caller frees). */
char *job_directory(const struct job *j);

#endif
