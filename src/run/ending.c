/* SPDX-License-Identifier: Apache-2.0 */
/* How a run ended, as a status and in words: see ending.h. */
#include "run/ending.h"

#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "run/missing.h"
#include "run/verify.h"

/* 128 + n for a signal, as a shell says it. */
static int guest_status(const struct one_result *one)
{
	return one->signal ? 128 + one->signal : one->code;
}

static void say_failure(const struct ending *e, const struct one_result *one, run_say *say)
{
	autofree char *advice = NULL;

	say(one->failed.msg);
	if (one->end == ONE_FAILED)
		advice = e->o->image ? NULL : missing_advice(e->contract);
	if (advice)
		say(advice);
}

/* The status of one run by itself, 121 and 122 aside. */
static int end_status(const struct one_result *one)
{
	switch (one->end) {
	case ONE_FAILED:
	case ONE_DIED:
		return error_status(&one->failed);
	case ONE_DIVERGED:
		return 122;
	case ONE_TIMEOUT:
		return 124;
	case ONE_DEADLOCK:
		return 123;
	case ONE_CLOSED:
		return 128 + SIGPIPE;
	case ONE_STOPPED:
	case ONE_GUEST:
		break;
	}
	return guest_status(one);
}

static bool is_different(const struct ending *e)
{
	return e->difference && difference_any(e->difference);
}

int ending_status(const struct ending *e)
{
	const struct one_result *worst = e->second->end > ONE_DEADLOCK ? e->second : e->first;

	if (worst->end != ONE_GUEST)
		return end_status(worst);
	if (is_different(e) || e->parted)
		return 122;
	/* Who interrupts a run asks for its end, and for no evidence. */
	if (e->first->was_interrupted && e->first->signal)
		return guest_status(e->first);
	if (e->contract->deterministic && !notes_is_enforced(&e->first->notes))
		return 121;
	return guest_status(e->first);
}

/* A signal that ends the run needs no word; one that the guest lived through does. */
static void say_interrupt(const struct ending *e, run_say *say)
{
	const char *what = e->first->notes.not_enforced[REASON_SIGNAL_FROM_OUTSIDE].first;
	autofree char *line = NULL;

	if (!e->first->was_interrupted || !what)
		return;
	line = str_format("determinism not enforced: %s", what);
	say(line);
}

/* Their codes, which `sandglass explain` takes. */
static void say_reasons(const struct ending *e, run_say *say)
{
	const struct notes *n = &e->first->notes;
	autofree char *line = mem_strdup("");

	for (int i = 0; i < REASON_COUNT; i++) {
		char *longer;

		if (!n->not_enforced[i].count)
			continue;
		longer = str_format("%s%s%s", line,
			line[0] ? ", " : "reasons: ", reason_info((enum reason)i)->code);
		free(line);
		line = longer;
	}
	autofree char *whole = str_format("%s ('sandglass explain CODE' says what to do)", line);
	say(whole);
}

static void say_divergence(const struct ending *e, const struct one_result *one, run_say *say)
{
	const struct feed_divergence *d = &one->divergence;
	autofree char *head = NULL, *recorded = NULL, *made = NULL;

	if (one->end == ONE_DIVERGED) {
		head = str_format("replay diverged from the recording: %s { ordinal: %llu }",
			d->name, (unsigned long long)d->ordinal);
		recorded = str_format("  recorded: %s", d->recorded);
		made = str_format("  replayed: %s", d->made);
		say(head);
		say(recorded);
		say(made);
	} else if (e->parted) {
		head = str_format("replay diverged from the recording: %s", e->parted);
		say(head);
	}
}

void ending_say(const struct ending *e, int status, run_say *say)
{
	const struct one_result *worst = e->second->end > ONE_DEADLOCK ? e->second : e->first;
	autofree char *line = NULL;

	if (worst == e->second)
		say("verify: the second run did not end by itself, so nothing could be "
		    "compared");
	if (worst->end == ONE_FAILED || worst->end == ONE_DIED)
		say_failure(e, worst, say);
	else if (worst->end == ONE_TIMEOUT)
		say("timed out: everything in the sandbox was killed");
	else if (e->o->verify && !e->difference && worst == e->first && worst->end != ONE_CLOSED)
		say("verify: the run was interrupted, so it was not made twice");
	say_divergence(e, worst, say);
	if (worst->oom)
		say("the memory limit killed something; --memory raises it");
	if (is_different(e))
		verify_say(e->difference, e->contract->deterministic, say);
	if (status == 121 || (status == 122 && !notes_is_enforced(&e->first->notes))) {
		say_interrupt(e, say);
		say_reasons(e, say);
		line = str_format("the guest exited %d but this run is NOT reproducible; see the "
				  "messages above",
			guest_status(e->first));
		say(line);
	}
}
