/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of trials from the command line: see trial.h. */
#include "cli/trial.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/str.h"
#include "config/paths.h"

enum kind { NUMBER, SIZE, DURATION };

/* What a signed report can say. */
#define LARGEST (UINT64_C(1) << 50)

static int read_one(
	const char *name, const char *text, enum kind kind, uint64_t *ret, struct error *err)
{
	int r;

	if (!text)
		return 0;
	if (kind == SIZE)
		r = num_parse_size(text, ret, err);
	else if (kind == DURATION)
		r = num_parse_duration(text, ret, err);
	else
		r = num_parse_u64(text, UINT32_MAX, ret, err);
	if (r == 0 && *ret > LARGEST && kind == SIZE)
		r = error_set(err, ERR_USAGE, "'%s' is too large; 0 takes the limit away", text);
	return r < 0 ? error_wrap(err, "--%s", name) : 0;
}

int cli_limits_read(const struct cli_limits *g, struct trial_limits *ret, struct error *err)
{
	const struct {
		const char *name, *text;
		enum kind kind;
		uint64_t *to;
	} rows[] = {
		{"timeout", g->timeout, DURATION, &ret->wall_ns},
		{"memory", g->memory, SIZE, &ret->memory},
		{"cpu-seconds", g->cpu_seconds, NUMBER, &ret->cpu_seconds},
		{"max-events", g->max_events, NUMBER, &ret->max_events},
		{"pids", g->pids, NUMBER, &ret->pids},
		{"max-files", g->max_files, NUMBER, &ret->max_files},
		{"max-file-size", g->max_file_size, SIZE, &ret->max_file_size},
		{"max-disk", g->max_disk, SIZE, &ret->max_disk},
		{"max-output", g->max_output, SIZE, &ret->max_output},
		{"max-llm-calls", g->max_llm_calls, NUMBER, &ret->max_llm_calls},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (read_one(rows[i].name, rows[i].text, rows[i].kind, rows[i].to, err) < 0)
			return -1;
	return 0;
}

int cli_trial_work(char **ret, struct error *err)
{
	autofree char *state = NULL;

	if (paths_find(PATHS_STATE, &state, err) < 0)
		return -1;
	*ret = str_format("%s/trials", state);
	return 0;
}
