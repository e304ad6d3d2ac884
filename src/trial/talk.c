/* SPDX-License-Identifier: Apache-2.0 */
/* One call of a pack: what is told, what it asks meanwhile, how it ends. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/str.h"
#include "crypto/digest.h"
#include "trial/inside.h"

enum { NONCE_DIGITS = 32, SAID_MAX = 400 };
/* How long an end is waited for after the channel's: it is on its way. */
#define END_NS (UINT64_C(10) * 1000000000)

const char *trial_text(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);
	const char *text = json_string_value(v);

	return text && strlen(text) == json_string_length(v) ? text : NULL;
}

/* A deterministic program may see nothing that differs from run to run. */
static void make_nonce(struct trial *t, const struct player *p, char ret[NONCE_DIGITS + 1])
{
	autofree char *text = NULL;
	char digest[DIGEST_TEXT];

	if (!t->spec->deterministic) {
		random_hex(ret, NONCE_DIGITS);
		return;
	}
	text = str_format("%s %" PRIu64, p->bundle.digest, ++t->nonces);
	digest_of(text, strlen(text), digest);
	snprintf(ret, NONCE_DIGITS + 1, "%.*s", NONCE_DIGITS, digest + strlen("sha256:"));
}

int trial_out_of_time(struct trial *t)
{
	return trial_over(t, TRIAL_LIMITS_EXCEEDED, "the wall clock ran out after %" PRIu64 " ms",
		t->spec->limits.wall_ns / 1000000);
}

/* What a limit ended was killed; what is stopped after a failure has no status of its own. */
void trial_keep_exit(struct trial *t, const struct player *p)
{
	const struct worker_end *e = &p->worker.end;
	bool is_own = e->is_known && e->failed.code == ERR_NONE &&
		      (e->result.end == SANDBOX_EXITED || e->result.end == SANDBOX_SIGNALLED);

	if (p != trial_candidate(t) || t->report->has_exit_code)
		return;
	t->report->has_exit_code = is_own || t->report->outcome == TRIAL_LIMITS_EXCEEDED;
	t->report->exit_code = !is_own				    ? -SIGKILL
			       : e->result.end == SANDBOX_SIGNALLED ? -e->result.signal
								    : e->result.code;
}

/* A limit that the kernel enforces shows in how the program died. */
static const char *exceeded(const struct worker_end *e)
{
	if (e->is_over_output)
		return "it printed more than --max-output allows";
	if (e->result.oom)
		return "it took more memory than --memory allows";
	if (e->result.end == SANDBOX_SIGNALLED && e->result.signal == SIGXCPU)
		return "it took more CPU time than --cpu-seconds allows";
	if (e->result.end == SANDBOX_SIGNALLED && e->result.signal == SIGXFSZ)
		return "it wrote a larger file than --max-file-size allows";
	return NULL;
}

int trial_judge_end(struct trial *t, struct player *p, struct error *err)
{
	const struct worker_end *e = &p->worker.end;
	bool describing = t->phase == PHASE_DESCRIBE;
	autofree char *tail = NULL;
	const char *net;

	if (!worker_wait(&p->worker, t->deadline_ns ? t->deadline_ns : clock_host_ns() + END_NS))
		return t->deadline_ns ? trial_out_of_time(t)
				      : trial_over(t, TRIAL_CRASHED, "it closed its channel");
	trial_keep_exit(t, p);
	tail = str_printable(e->tail, e->tail_len, WORKER_TAIL);
	net = exceeded(e);
	/* What cannot even be imported within its memory was never there. */
	if (net)
		return trial_over(t,
			describing && e->result.oom ? TRIAL_MATERIALIZATION_FAILED
						    : TRIAL_LIMITS_EXCEEDED,
			"%s", net);
	if (!e->is_known)
		return trial_over(t, TRIAL_CRASHED, "what served its container was killed");
	if (e->failed.code != ERR_NONE) {
		*err = e->failed;
		return STEP_ERROR;
	}
	if (e->result.end == SANDBOX_DEADLOCKED)
		return trial_over(t, TRIAL_CRASHED, "a deadlock: %s", e->result.detail);
	if (e->result.end == SANDBOX_SIGNALLED)
		return trial_over(t, TRIAL_CRASHED, "it was killed by signal %d; it printed: %s",
			e->result.signal, tail);
	return trial_over(t,
		describing && e->result.code ? TRIAL_MATERIALIZATION_FAILED : TRIAL_CRASHED,
		"it exited with status %d %s; it printed: %s", e->result.code,
		describing		? "before it had described itself"
		: t->phase == PHASE_END ? "when it was told to end"
					: "in the middle of a call",
		tail);
}

static int tell(struct trial *t, struct player *p, const char *line, struct error *err)
{
	if (worker_tell(&p->worker, t->deadline_ns, line, strlen(line), err) < 0)
		return err->code == ERR_TIMEOUT ? trial_out_of_time(t) : STEP_ERROR;
	return 0;
}

static int tell_word(
	struct trial *t, struct player *p, const char *key, const char *text, struct error *err)
{
	auto_json json_t *o = json_object();
	autofree char *dumped = NULL, *line = NULL;

	json_put(o, key, json_str(text));
	dumped = json_dumps(o, JSON_COMPACT);
	line = str_format("%s\n", dumped);
	return tell(t, p, line, err);
}

/* What only the host says, and only whoever promotes. */
static bool is_reserved(const char *type, const char *actor)
{
	static const char *const types[] = {
		"runtime.", "behavior.", "relation_behavior.", "pack.", "trial.", "promote."};

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (str_has_prefix(type, types[i]))
			return true;
	return actor && (str_has_prefix(actor, "promote:") || strcmp(actor, "trial_executor") == 0);
}

static int do_append(
	struct trial *t, const struct call *c, const json_t *request, struct error *err)
{
	const char *type = trial_text(request, "type"), *actor = trial_text(request, "actor");
	const char *caused_by = trial_text(request, "caused_by"), *id = NULL;
	const json_t *payload = json_object_get(request, "payload");
	autofree char *line = NULL, *text = NULL;
	struct error why;
	int r;

	if (!type || !type[0] || strlen(type) > LEDGER_ID_MAX || !json_is_object(payload))
		return tell_word(t, c->player, "refused",
			"append needs a type, and a payload that is an object", err);
	if ((actor && strlen(actor) > LEDGER_ID_MAX) ||
		(caused_by && strlen(caused_by) > LEDGER_ID_MAX) || is_reserved(type, actor))
		return tell_word(t, c->player, "refused",
			"events of this type or actor are not a pack's to append", err);
	text = json_dumps(payload, 0);
	if (trial_check_payload(text, &why) < 0)
		return tell_word(t, c->player, "refused", why.msg, err);
	r = trial_append(t, type, take_ptr(text), actor ? actor : c->actor,
		caused_by ? caused_by : c->caused_by, &id);
	if (r != 0)
		return r;
	line = str_format("{\"reply\":{\"id\":\"%s\"}}\n", id);
	return tell(t, c->player, line, err);
}

static int do_events(
	struct trial *t, const struct call *c, const json_t *request, struct error *err)
{
	autofree char *line = NULL;
	int r = trial_events_reply(t, request, &line, err);

	return r == 0 ? tell(t, c->player, line, err) : r;
}

static int do_objects(
	struct trial *t, const struct call *c, const json_t *request, struct error *err)
{
	autofree char *line = NULL;
	int r = trial_objects_reply(t, request, &line, err);

	if (r == STEP_FAILED)
		return tell_word(t, c->player, "refused", err->msg, err);
	return r == 0 ? tell(t, c->player, line, err) : r;
}

static int do_idle(struct trial *t, const struct call *c, struct error *err)
{
	int r;

	if (!c->may_idle)
		return tell_word(t, c->player, "refused",
			"a behavior cannot wait for behaviors: they are called when it has ended",
			err);
	r = trial_idle(t, err);
	return r == 0 ? tell(t, c->player, "{\"reply\":{}}\n", err) : r;
}

static int serve(struct trial *t, const struct call *c, const json_t *m, struct error *err)
{
	const json_t *v;

	/* An answer with another nonce comes from somebody who was not called. */
	if (json_object_get(m, "done") || json_object_get(m, "failed"))
		return 0;
	/* Whose code and manifest do not agree has done nothing to the fork. */
	if (t->phase == PHASE_DESCRIBE)
		return tell_word(t, c->player, "refused",
			"a pack that is asked what it has can ask for nothing yet", err);
	if ((v = json_object_get(m, "append")))
		return do_append(t, c, v, err);
	if ((v = json_object_get(m, "events")))
		return do_events(t, c, v, err);
	if ((v = json_object_get(m, "objects")))
		return do_objects(t, c, v, err);
	if (json_object_get(m, "idle"))
		return do_idle(t, c, err);
	return tell_word(t, c->player, "refused", "no such request", err);
}

/* 1: a message; else as trial_call. */
static int hear(struct trial *t, struct player *p, json_t **ret, struct error *err)
{
	const char *line;
	size_t len;
	json_error_t why;
	int r = worker_hear(&p->worker, t->deadline_ns, &line, &len, err);

	if (r < 0 && err->code == ERR_TIMEOUT)
		return trial_out_of_time(t);
	if (r < 0 && err->code == ERR_LIMIT)
		return trial_over(t, TRIAL_CRASHED, "%s", err->msg);
	if (r < 0)
		return STEP_ERROR;
	if (r == 0)
		return trial_judge_end(t, p, err);
	*ret = json_loadb(line, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
	if (!json_is_object(*ret))
		return trial_over(t, TRIAL_CRASHED, "it spoke a line that is no JSON object");
	return 0;
}

int trial_call(struct trial *t, const struct call *c, const char *what, const char *members,
	json_t **ret, struct error *err)
{
	char nonce[NONCE_DIGITS + 1];
	autofree char *line = NULL;
	int r;

	make_nonce(t, c->player, nonce);
	line = str_format("{\"do\":\"%s\",\"nonce\":\"%s\"%s}\n", what, nonce, members);
	r = tell(t, c->player, line, err);
	while (r == 0) {
		auto_json json_t *m = NULL;
		const char *text;

		r = hear(t, c->player, &m, err);
		if (r != 0)
			return r;
		text = trial_text(m, "done");
		if (text && strcmp(text, nonce) == 0) {
			if (ret)
				*ret = take_ptr(m);
			return 0;
		}
		text = trial_text(m, "nonce");
		if (json_object_get(m, "failed") && text && strcmp(text, nonce) == 0) {
			text = trial_text(m, "failed");
			free(t->said);
			t->said = text ? str_printable(text, strlen(text), SAID_MAX)
				       : mem_strdup("it does not say why");
			return STEP_FAILED;
		}
		r = serve(t, c, m, err);
	}
	return r;
}
