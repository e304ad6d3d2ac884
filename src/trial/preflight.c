/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a trial's child can start here: see trial_preflight. */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "trial/trial.h"
#include "trial/worker.h"

static void worker_cleanup(struct worker *w)
{
	worker_finish(w);
}

int trial_preflight(const struct trial_limits *limits, bool deterministic, char ***ret_warnings,
	size_t *ret_count, struct error *err)
{
	char program[] = "true", *exec[] = {program, NULL};
	const struct pack_code code = {.exec = exec};
	const struct worker_spec spec = {
		.code = &code, .limits = limits, .deterministic = deterministic};
	struct worker CLEANUP(worker_cleanup) w = {.socket = -1, .stop = -1, .end_fd = -1};
	const struct worker_end *e = &w.end;
	autofree char *tail = NULL;

	if (worker_start(&w, &spec, err) < 0)
		return -1;
	if (!worker_wait(&w, limits->wall_ns ? clock_host_ns() + limits->wall_ns : 0))
		return error_set(err, ERR_TIMEOUT, "a trial's child could not start: timed out");
	if (!e->is_known)
		return error_set(err, ERR_DIED, "a trial's child could not start: it was killed");
	if (e->failed.code != ERR_NONE) {
		*err = e->failed;
		return error_wrap(err, "a trial's child could not start");
	}
	tail = str_printable(e->tail, e->tail_len, 300);
	if (e->result.end != SANDBOX_EXITED || e->result.code != 0)
		return error_set(err, ERR_UNSUPPORTED,
			"a trial's child could not start (%s, status %d%s): %s",
			sandbox_end_name(e->result.end), sandbox_result_status(&e->result),
			e->result.oom ? ", out of memory" : "", tail);
	*ret_count = 0;
	*ret_warnings = mem_array(e->degraded_count + 2, sizeof(**ret_warnings));
	for (uint32_t i = 0; i < e->degraded_count; i++)
		(*ret_warnings)[(*ret_count)++] = mem_strdup(e->degraded[i]);
	if (deterministic && !e->result.enforced)
		(*ret_warnings)[(*ret_count)++] = mem_strdup(e->result.detail);
	return 0;
}
