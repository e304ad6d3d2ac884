/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trial is killed, or a step of it fails, at every step there is: the parent run is as it was,
 * its fork holds all that the trial appended or nothing of it, and another trial succeeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "ledger/ledger.h"
#include "pack/pack.h"
#include "scratch.h"
#include "trial/trial.h"

enum { STEPS_MAX = 200, PAST = 5, APPENDED = 6 };

struct place {
	const struct scratch *scratch;
	char *store, *pack, *work;
	char run[LEDGER_ULID];
	char pin[DIGEST_TEXT];
};

static void must(int r, const struct error *err)
{
	if (r < 0)
		fail_msg("%s", err->msg);
}

static void place_init(struct place *p)
{
	auto_ledger struct ledger *l = NULL;
	auto_ledger_writer struct ledger_writer *w = NULL;
	auto_faults struct faults faults = {0};
	auto_bundle struct bundle b = {0};
	struct ledger_new events[PAST];
	autoclose int dir = -1;
	struct error err = {0};

	for (size_t i = 0; i < PAST; i++)
		events[i] = (struct ledger_new){.type = "x", .payload = "{}", .payload_len = 2};
	p->store = scratch_path(p->scratch, "store.db");
	p->pack = scratch_path(p->scratch, "greeter");
	p->work = scratch_path(p->scratch, "work");
	must(ledger_open(p->store, LEDGER_MAKE, 0, &l, &err), &err);
	must(ledger_run_new(l, "parent", NULL, p->run, &err), &err);
	must(ledger_writer_open(l, p->run, &w, &err), &err);
	must(ledger_append(w, events, PAST, false, &err), &err);
	must(pack_scaffold(p->pack, "sh", &err), &err);
	dir = open(p->pack, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(bundle_take(dir, -1, &b, &faults, &err), &err);
	memcpy(p->pin, b.digest, sizeof(p->pin));
}

static void place_finish(struct place *p)
{
	free(p->store);
	free(p->pack);
	free(p->work);
}

static int make_trial(const struct place *p, struct error *err)
{
	auto_trial_report struct trial_report report = {0};
	const struct trial_pack pack = {p->pack, p->pin};
	struct trial_spec spec = {.store = p->store,
		.run = p->run,
		.packs = &pack,
		.pack_count = 1,
		.scenario = "scenario.sh",
		.work = p->work};

	trial_limits_init(&spec.limits);
	if (trial_run(&spec, &report, err) < 0)
		return -1;
	if (report.outcome != TRIAL_COMPLETED || report.events_appended != APPENDED)
		return error_set(err, ERR_FORMAT, "%s with %d events: %s",
			trial_outcome_name(report.outcome), (int)report.events_appended,
			report.detail);
	return 0;
}

struct seen {
	struct ledger *ledger;
	const struct place *place;
	size_t forks;
};

static int see_run(void *context, const struct ledger_run *r, struct error *err)
{
	struct seen *s = context;
	uint64_t own;

	if (strcmp(r->id, s->place->run) == 0) {
		assert_int_equal(r->last, PAST);
		return 0;
	}
	s->forks++;
	assert_string_equal(r->parent, s->place->run);
	must(ledger_count(s->ledger, r->id, r->shared + 1, NULL, &own, err), err);
	if (own != 0 && own != APPENDED)
		fail_msg("fork %s holds %d events", r->id, (int)own);
	return 0;
}

/* The parent is whole, every fork has all or nothing. */
static size_t check_store(const struct place *p)
{
	auto_ledger struct ledger *l = NULL;
	struct seen s = {.place = p};
	struct error err = {0};
	uint64_t faults;

	must(ledger_open(p->store, LEDGER_EXISTING, 0, &l, &err), &err);
	must(ledger_verify(l, NULL, NULL, &faults, &err), &err);
	assert_int_equal(faults, 0);
	s.ledger = l;
	must(ledger_run_each(l, see_run, &s, &err), &err);
	return s.forks;
}

struct countdown {
	pid_t owner; /* its steps count, not those of what it starts */
	int left;
	bool kills;
};

static int count_down(void *context, const char *step)
{
	struct countdown *c = context;

	(void)step;
	if (getpid() != c->owner || --c->left != 0)
		return 0;
	if (c->kills)
		kill(getpid(), SIGKILL);
	errno = ENOSPC;
	return -1;
}

/* True when the trial had fewer steps. */
static bool fails_at(const struct place *p, int step, bool kills)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct countdown c = {getpid(), step, kills};
		struct error err = {0};
		int r;

		fault_watch(count_down, &c);
		r = make_trial(p, &err);
		fault_watch(NULL, NULL);
		if (r < 0 && c.left > 0)
			print_message("%s\n", err.msg);
		_exit(r == 0 && c.left > 0 ? 0 : c.left > 0 ? 3 : 1);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
		fail_msg("it failed without a fault");
	if (kills && WIFEXITED(status) && WEXITSTATUS(status) == 1)
		fail_msg("it was not killed");
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void at_every_step(const struct scratch *s, bool kills)
{
	struct place CLEANUP(place_finish) p = {.scratch = s};
	struct error err = {0};
	int step = 1;

	place_init(&p);
	for (; step < STEPS_MAX && !fails_at(&p, step, kills); step++)
		check_store(&p);
	/* The fork's and the appending's, and those between. */
	assert_in_range(step, 10, STEPS_MAX - 1);
	must(make_trial(&p, &err), &err);
	assert_true(check_store(&p) >= 2);
}

static void a_trial_is_killed_at_every_step(void **state)
{
	at_every_step(*state, true);
}

static void every_step_of_a_trial_fails(void **state)
{
	at_every_step(*state, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_trial_is_killed_at_every_step, scratch_setup, scratch_teardown),
		cmocka_unit_test_setup_teardown(
			every_step_of_a_trial_fails, scratch_setup, scratch_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
