/* SPDX-License-Identifier: Apache-2.0 */
/* What `trial` and `preflight` share: the options of limits. */
#ifndef CLI_TRIAL_H
#define CLI_TRIAL_H

#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"
#include "cli/cli.h"
#include "trial/trial.h"

/* As they were given; NULL: not at all. */
struct cli_limits {
	const char *timeout, *memory, *cpu_seconds, *max_events, *pids, *max_files, *max_file_size,
		*max_disk, *max_output, *max_llm_calls;
};

#define CLI_LIMIT(type, name, value, field, help) \
	{ \
		name, CLI_TEXT, value, help, \
			offsetof(type, limits) + offsetof(struct cli_limits, field) \
	}
/* The rows of the options, for a struct with a member `limits`. */
#define CLI_LIMIT_OPTIONS(type) \
	CLI_LIMIT(type, "timeout", "DURATION", timeout, "wall clock of all packs; 0: none"), \
		CLI_LIMIT(type, "memory", "SIZE", memory, "memory of a pack; 0: no limit"), \
		CLI_LIMIT(type, "cpu-seconds", "N", cpu_seconds, \
			"CPU time of each process; 0: no limit"), \
		CLI_LIMIT(type, "max-events", "N", max_events, \
			"events appended to the fork; 0: no limit"), \
		CLI_LIMIT(type, "pids", "N", pids, "processes of a pack; 0: no limit"), \
		CLI_LIMIT(type, "max-files", "N", max_files, \
			"open files of each process; 0: the container's own limit"), \
		CLI_LIMIT(type, "max-file-size", "SIZE", max_file_size, \
			"size of a file that is written; 0: no limit"), \
		CLI_LIMIT(type, "max-disk", "SIZE", max_disk, "bytes of /tmp; 0: no limit"), \
		CLI_LIMIT(type, "max-output", "SIZE", max_output, \
			"bytes that a pack may print; 0: no limit"), \
		CLI_LIMIT(type, "max-llm-calls", "N", max_llm_calls, \
			"recorded; no provider is ever configured")

/* Sets those that were given. ERR_USAGE names the option. */
MUST_CHECK int cli_limits_read(
	const struct cli_limits *given, struct trial_limits *ret, struct error *err);
/* STATE/trials (caller frees). */
MUST_CHECK int cli_trial_work(char **ret, struct error *err);

#endif
