/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --verify: see verify.h.
 *
 * How it works. The first run passes its output on and keeps a copy; the second one only keeps. It
 * gets another CPU, a busy neighbour there, delays at stops, another time of day, another
 * environment of the host and other scratch directories (launch makes them fresh), so that luck is
 * not taken for determinism. Decisions are compared as they come; the outputs afterwards, by their
 * digests first and line by line when those differ.
 */
#include "run/verify.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/temp.h"
#include "run/load.h"
#include "run/written.h"

enum { DELAY_SEED = 20231114 };

int verify_open(struct verify *v, struct error *err)
{
	*v = (struct verify){.out = {-1, -1}, .err = {-1, -1}};
	decisions_init(&v->decisions[0]);
	decisions_init(&v->decisions[1]);
	v->decisions[1].reference = &v->decisions[0];
	if (decisions_keep(&v->decisions[0], err) < 0)
		return -1;
	for (int i = 0; i < 2; i++)
		if (temp_open(&v->out[i], err) < 0 || temp_open(&v->err[i], err) < 0)
			return -1;
	return 0;
}

void verify_close(struct verify *v)
{
	for (int i = 0; i < 2; i++) {
		fd_close(&v->out[i]);
		fd_close(&v->err[i]);
		decisions_finish(&v->decisions[i]);
	}
}

void verify_attach(struct verify *v, int run, struct one_spec *spec)
{
	spec->spool_out = v->out[run];
	spec->spool_err = v->err[run];
	spec->decisions = &v->decisions[run];
}

static char *exit_text(const struct one_result *r)
{
	if (r->end == ONE_DEADLOCK)
		return mem_strdup("deadlock");
	return r->signal ? str_format("killed by signal %d", r->signal)
			 : str_format("exit status %d", r->code);
}

static void compare_exit(
	const struct one_result *a, const struct one_result *b, struct difference_row *row)
{
	autofree char *first = exit_text(a), *second = exit_text(b);

	if (strcmp(first, second) != 0)
		*row = (struct difference_row){
			.differs = true, .first = take_ptr(first), .second = take_ptr(second)};
}

/* One stream of a run: its digest, its copy, and how much of it the copy has. */
struct side {
	const char *digest;
	int copy;
	uint64_t bytes, kept;
};

static int compare_text(
	const struct side *a, const struct side *b, struct difference_row *row, struct error *err)
{
	if (strcmp(a->digest, b->digest) == 0)
		return 0;
	row->differs = true;
	/* Where a copy ends before its stream does, the other's going on is no difference. */
	if (a->kept < a->bytes || b->kept < b->bytes) {
		off_t least = (off_t)(a->kept < b->kept ? a->kept : b->kept);

		if (ftruncate(a->copy, least) < 0 || ftruncate(b->copy, least) < 0)
			return error_sys(err, "cut the copies of the output");
	}
	return difference_lines(a->copy, b->copy, row, err) < 0 ? -1 : 0;
}

static int compare_trees(const struct contract *c, const struct one_result *a,
	const struct one_result *b, struct difference_row *row, struct error *err)
{
	autoclose int first = -1, second = -1;
	char da[DIGEST_TEXT], db[DIGEST_TEXT];

	if (temp_open(&first, err) < 0 || temp_open(&second, err) < 0 ||
		written_digest(c, a, first, da, err) < 0 ||
		written_digest(c, b, second, db, err) < 0)
		return -1;
	return compare_text(&(struct side){.digest = da, .copy = first},
		&(struct side){.digest = db, .copy = second}, row, err);
}

static bool is_comparable(const struct one_result *r)
{
	return r->end == ONE_GUEST || r->end == ONE_DEADLOCK;
}

static int compare(struct verify *v, const struct contract *c, const struct one_result *a,
	const struct one_result *b, struct difference *ret, struct error *err)
{
	auto_difference struct difference d = {0};
	int r;

	compare_exit(a, b, &d.rows[DIFFERENCE_EXIT]);
	struct side out[2] = {{a->out, v->out[0], a->out_bytes, a->out_spooled},
		{b->out, v->out[1], b->out_bytes, b->out_spooled}};
	struct side errs[2] = {{a->err, v->err[0], a->err_bytes, a->err_spooled},
		{b->err, v->err[1], b->err_bytes, b->err_spooled}};
	if (compare_text(&out[0], &out[1], &d.rows[DIFFERENCE_STDOUT], err) < 0 ||
		compare_text(&errs[0], &errs[1], &d.rows[DIFFERENCE_STDERR], err) < 0 ||
		compare_trees(c, a, b, &d.rows[DIFFERENCE_TREE], err) < 0)
		return -1;
	r = decisions_compare(&v->decisions[1], &d.decision, err);
	if (r < 0)
		return -1;
	d.rows[DIFFERENCE_DECISIONS].differs = r > 0;
	d.has_decision = r > 0 && d.decision.ordinal > 0;
	*ret = d;
	d = (struct difference){0};
	return 0;
}

int verify_run(struct verify *v, struct one_spec spec, const struct one_result *first,
	struct one_result *ret_second, struct difference *ret, struct error *err)
{
	auto_load pid_t child = 0;
	struct timespec moment = {.tv_nsec = 7000000};

	verify_attach(v, 1, &spec);
	spec.is_quiet = true;
	spec.delay_seed = DELAY_SEED;
	/* Longer than the first one's by a page: what leaks from it moves the guest's stack. */
	autofree char *pad = mem_alloc(4097);
	memset(pad, 'x', 4096);
	setenv("SANDGLASS_SECOND_RUN", pad, 1);
	nanosleep(&moment, NULL);
	load_start(spec.cpu, &child);
	if (stdin_rewind(spec.in, err) < 0 || one_run(&spec, ret_second, err) < 0)
		return error_wrap(err, "second run");
	unsetenv("SANDGLASS_SECOND_RUN");
	if (!is_comparable(first) || !is_comparable(ret_second))
		return 0;
	return compare(v, spec.contract, first, ret_second, ret, err);
}

static void say_row(enum difference_output o, const struct difference_row *row, run_say *say)
{
	autofree char *head = row->line ? str_format("verify: %s differs at line %llu",
						  difference_name(o), (unsigned long long)row->line)
					: str_format("verify: %s differs", difference_name(o));
	autofree char *first =
		str_format("  first run:  %s", row->first ? row->first : "(ends before)");
	autofree char *second =
		str_format("  second run: %s", row->second ? row->second : "(ends before)");

	say(head);
	if (row->line || row->first || row->second) {
		say(first);
		say(second);
	}
}

static void say_side(const char *label, bool has, const struct decision *d, run_say *say)
{
	autofree char *text = has ? difference_decision_text(d) : mem_strdup("(the run has ended)");
	autofree char *line = has ? str_format("  %s task %u at %llu ns: %s", label, d->task,
					    (unsigned long long)d->now_ns, text)
				  : str_format("  %s %s", label, text);

	say(line);
}

void verify_say(const struct difference *d, bool deterministic, run_say *say)
{
	for (int i = 0; i < DIFFERENCE_DECISIONS; i++)
		if (d->rows[i].differs)
			say_row((enum difference_output)i, &d->rows[i], say);
	if (!deterministic) {
		say("verify: nothing was held, as --no-determinism asks for, so two runs may "
		    "differ");
		return;
	}
	if (!d->rows[DIFFERENCE_DECISIONS].differs) {
		say("verify: every decision of the two runs is the same, so the difference was not "
		    "mediated");
		return;
	}
	if (!d->has_decision) {
		say("verify: the decisions differ, past what was kept for comparing");
		return;
	}
	autofree char *head = str_format(
		"verify: the runs part at decision %llu", (unsigned long long)d->decision.ordinal);
	say(head);
	say_side("first run: ", d->decision.has_first, &d->decision.first, say);
	say_side("second run:", d->decision.has_second, &d->decision.second, say);
}
