/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `sandglass run` as one function: see run.h.
 *
 * How it works. Everything that can be refused is looked at first; then the contract, with digests
 * when it is to be verified; then one run, or two; then the evidence (programs, tree, report,
 * --out) and at the end the lines that say what the exit status means.
 */
#include "run/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/signals.h"
#include "base/str.h"
#include "codec/json.h"
#include "config/supervisor.h"
#include "oci/dialect.h"
#include "run/contract.h"
#include "run/ending.h"
#include "run/export.h"
#include "run/image.h"
#include "run/inputs.h"
#include "run/json.h"
#include "run/load.h"
#include "run/one.h"
#include "run/picture.h"
#include "run/pty.h"
#include "run/recorder.h"
#include "run/replay.h"
#include "run/report.h"
#include "run/stdin.h"
#include "run/substrate.h"
#include "run/trace.h"
#include "run/verify.h"
#include "run/written.h"

struct run {
	const struct run_options *o;
	run_say *say;
	struct substrate substrate;
	struct contract contract;
	struct inputs inputs;
	struct stdin_source in;
	struct verify verify;
	struct decisions decisions; /* without --verify */
	struct feed feed, again;    /* standard input of the first run, and of the second */
	struct recorder recorder;
	struct journal journal;
	struct journal_past past;
	struct replay replay;
	struct tape_reader *again_reader;
	char *parted; /* how a replay ended otherwise than its recording */
	struct one_result first, second;
	struct difference difference;
	bool was_compared;
	char tree[DIGEST_TEXT];
	struct bytes moments; /* for the page */
	int signals, supervisor;
};

static void run_init(struct run *r, const struct run_options *o, run_say *say)
{
	*r = (struct run){.o = o,
		.say = say,
		.in = {.file = -1, .spool = -1},
		.signals = -1,
		.supervisor = -1};
	r->verify = (struct verify){.out = {-1, -1}, .err = {-1, -1}};
	r->verify.decisions[0].keep = r->verify.decisions[1].keep = -1;
	decisions_init(&r->decisions);
	feed_init(&r->feed);
	feed_init(&r->again);
	recorder_init(&r->recorder, &r->contract, &r->inputs);
}

static void run_finish(struct run *r)
{
	one_result_finish(&r->second);
	one_result_finish(&r->first);
	difference_finish(&r->difference);
	decisions_finish(&r->decisions);
	verify_close(&r->verify);
	feed_finish(&r->again);
	feed_finish(&r->feed);
	recorder_finish(&r->recorder);
	tape_reader_free(r->again_reader);
	replay_finish(&r->replay);
	free(r->parted);
	bytes_finish(&r->moments);
	stdin_close(&r->in);
	contract_finish(&r->contract);
	substrate_close(&r->substrate);
	fd_close(&r->signals);
	fd_close(&r->supervisor);
}

bool run_is_raw(void)
{
	return pty_is_raw();
}

/* What has gone out is looked at before we say anything ourselves. */
static int open_journal(struct run *r, struct error *err)
{
	if (recorder_continue(&r->recorder, r->o->tape, &r->journal, &r->past, err) < 0)
		return -1;
	journal_past_resolve(&r->past);
	memcpy(r->journal.past, r->past.done, sizeof(r->journal.past));
	for (unsigned s = 1; s < JOURNAL_STREAMS; s++) {
		autofree char *line = str_format(
			"the run died while it wrote %llu bytes of standard %s: they may be "
			"missing, and are not written again",
			(unsigned long long)r->past.doubtful[s], s == 1 ? "output" : "error");

		if (r->past.doubtful[s])
			r->say(line);
	}
	return 0;
}

/* Where every address is at hand, the routes are ours to make; and what is kept, the layer. */
static int check_runtime(const struct run *r, struct error *err)
{
	if (!substrate_runtime(&r->substrate))
		return 0;
	if (r->o->out)
		return error_set(err, ERR_USAGE,
			"--out needs the native container: in a runtime's nothing is kept of what "
			"is "
			"written; leave --runtime out, or share a directory by --bind");
	if (!contract_has_outside(&r->contract))
		return 0;
	return error_set(err, ERR_USAGE,
		"--network needs the native container: a runtime's has loopback alone; leave "
		"--runtime out");
}

static int prepare(struct run *r, struct error *err)
{
	auto_contract_host struct contract_host host = {0};

	if (r->o->resume && open_journal(r, err) < 0)
		return -1;
	if (substrate_open(&r->substrate, r->o, r->say, err) < 0)
		return -1;
	r->replay.given = substrate_given(&r->substrate);
	if (substrate_runtime(&r->substrate))
		r->recorder.substrate = substrate_runtime(&r->substrate)->runtime->dialect->name;
	if (r->o->tape)
		return replay_open(&r->replay, r->o, &r->contract, &r->inputs, &r->in, err) < 0
			       ? -1
			       : check_runtime(r, err);
	if (contract_host_read(&host, err) < 0)
		return -1;
	host.image = substrate_image(&r->substrate);
	if (host.image)
		memcpy(r->inputs.image, host.image->digest, sizeof(r->inputs.image));
	/* A terminal would have to be made inside, by somebody who is not there yet. */
	host.tty = host.tty && !substrate_runtime(&r->substrate);
	if (contract_build(r->o, &host, &r->contract, r->say, err) < 0 ||
		stdin_open(&r->in, &r->contract, err) < 0 || check_runtime(r, err) < 0)
		return -1;
	return r->o->verify || r->o->receipt || r->o->record || r->o->journal || r->o->digest_inputs
		       ? inputs_digest(&r->contract, &r->inputs, err)
		       : 0;
}

int run_contract_text(const struct run_options *o, run_say *say, char **ret_text, struct error *err)
{
	struct run CLEANUP(run_finish) r;
	auto_json json_t *value = NULL;

	run_init(&r, o, say);
	if (prepare(&r, err) < 0)
		return -1;
	value = contract_json(&r.contract, &r.inputs);
	*ret_text = json_text(value);
	return 0;
}

int run_command_text(const struct run_options *o, run_say *say, char **ret_text, struct error *err)
{
	struct run CLEANUP(run_finish) r;

	run_init(&r, o, say);
	if (prepare(&r, err) < 0 || supervisor_open(&r.supervisor, err) < 0)
		return -1;
	if (!substrate_runtime(&r.substrate))
		return error_set(err, ERR_USAGE,
			"--dry-run shows a runtime's command line, and the native container has "
			"none; "
			"--print-contract shows what it is made of");
	return oci_command(&r.substrate.spec,
		&(struct launch_spec){.contract = &r.contract, .supervisor = r.supervisor},
		ret_text, err);
}

/* Where standard input comes from, when it is a stream. */
static int choose_feed(struct run *r, struct one_spec *spec, struct error *err)
{
	if (r->o->record && recorder_begin(&r->recorder, r->o->record, err) < 0)
		return -1;
	if (r->o->journal &&
		recorder_begin_journal(&r->recorder, r->o->journal, &r->journal, err) < 0)
		return -1;
	if (r->o->journal || r->o->resume) {
		r->journal.feed = &r->feed;
		spec->journal = &r->journal;
	}
	if (r->o->tape)
		r->feed.reader = r->replay.reader;
	if (r->o->resume && r->recorder.writer) {
		r->feed.resumes = true;
		r->feed.known = r->past.request;
		r->feed.skip = r->o->input_again ? r->past.input_bytes : 0;
	}
	if (!r->o->tape || r->feed.resumes) {
		r->feed.record = recorder_input;
		r->feed.record_sent = recorder_sent;
		r->feed.arg = &r->recorder;
	}
	spec->feed = &r->feed;
	return 0;
}

/* The first run is over: its tape is whole, and a second run has its input from there. */
static int turn_tape(
	struct run *r, const struct decisions *d, struct one_spec *spec, struct error *err)
{
	bool is_overlay;

	if (r->o->tape && !r->recorder.writer) {
		if (r->first.end <= ONE_DEADLOCK)
			r->parted = replay_compare(&r->replay, &r->first, d);
		return 0;
	}
	if (r->recorder.writer)
		programs_digest(&r->first.programs, &r->contract,
			r->first.launch ? launch_copy_fd(r->first.launch, &is_overlay) : -1);
	if (recorder_end(&r->recorder, &r->first, d, err) < 0)
		return -1;
	if (!r->o->verify || r->contract.tty ||
		(r->in.kind != CONTRACT_STDIN_STREAM && !contract_has_outside(&r->contract)))
		return 0;
	if (recorder_reader(&r->recorder, &r->again_reader, err) < 0)
		return -1;
	r->again.reader = r->again_reader;
	spec->feed = &r->again;
	return 0;
}

static int run_all(struct run *r, struct error *err)
{
	int cpu = -1, other = -1;
	struct one_spec spec = {.contract = &r->contract,
		.supervisor = r->supervisor,
		.runtime = substrate_runtime(&r->substrate),
		.in = &r->in,
		.timeout_ns = r->o->timeout_ns,
		.timers_after_ns = r->o->timers_after_ns,
		.signals = r->signals,
		.is_image = r->inputs.image[0],
		.wants_limits = r->o->memory || r->o->pids,
		.wants_programs = r->o->report || r->o->receipt || r->o->record || r->o->json ||
				  r->recorder.writer || r->o->journal,
		.spool_out = -1,
		.spool_err = -1,
		.decisions = &r->decisions,
		.say = r->say};

	r->substrate.spec.interrupt = r->signals;
	load_cpus(&cpu, &other);
	spec.cpu = cpu;
	if (r->o->verify) {
		if (verify_open(&r->verify, err) < 0 || stdin_keep(&r->in, err) < 0)
			return -1;
		verify_attach(&r->verify, 0, &spec);
	}
	spec.is_quiet = r->o->draw;
	spec.moments = r->o->draw ? &r->moments : NULL;
	if ((r->o->trace || r->o->draw) && !r->o->verify && decisions_keep(&r->decisions, err) < 0)
		return -1;
	if (choose_feed(r, &spec, err) < 0 || one_run(&spec, &r->first, err) < 0 ||
		turn_tape(r, spec.decisions, &spec, err) < 0)
		return -1;
	if (!r->o->verify || (r->first.end != ONE_GUEST && r->first.end != ONE_DEADLOCK) ||
		r->first.was_interrupted)
		return 0;
	spec.cpu = other;
	if (verify_run(&r->verify, spec, &r->first, &r->second, &r->difference, err) < 0)
		return -1;
	r->was_compared = r->second.end == ONE_GUEST || r->second.end == ONE_DEADLOCK;
	return 0;
}

/* What the guest wrote: exported, and digested when somebody will read it. */
static int take_written(struct run *r, bool wants_digest, struct error *err)
{
	auto_written struct written w = {.base = -1};
	struct export_counts counts = {0};
	int has = r->first.end == ONE_GUEST || r->first.end == ONE_DEADLOCK
			  ? written_open(&r->contract, &r->first, &w, err)
			  : 0;

	if (has < 0)
		return -1;
	if (!has && r->o->out)
		r->say("--out: nothing was kept, since the program did not end by itself");
	if (!has)
		return 0;
	if (wants_digest && tree_digest(&w.source, -1, r->tree, err) < 0)
		return error_wrap(err, "read what the program wrote");
	if (!r->o->out)
		return 0;
	w.source.is_undigested = true;
	if (export_tree(&w.source, r->o->out, &counts, err) < 0)
		return -1;
	if (counts.skipped > 0 || counts.deleted > 0) {
		autofree char *line = str_format(
			"--out: %llu sockets, devices and unreadable files were left out; "
			"%llu files that the program deleted are not marked",
			(unsigned long long)counts.skipped, (unsigned long long)counts.deleted);

		r->say(line);
	}
	return 0;
}

static int take_trace(const struct run *r, struct error *err)
{
	const struct decisions *d = r->o->verify ? &r->verify.decisions[0] : &r->decisions;

	return r->o->trace ? trace_write(r->o->trace, d, err) : 0;
}

static int take_picture(const struct run *r, struct error *err)
{
	return r->o->draw ? picture_write(1,
				    &(struct picture){.header = r->replay.header,
					    .tape = r->replay.reader,
					    .decisions = &r->decisions,
					    .moments = &r->moments},
				    err)
			  : 0;
}

static int take_report(struct run *r, int status, char **ret_report, struct error *err)
{
	struct report report = {.contract = &r->contract,
		.inputs = &r->inputs,
		.first = &r->first,
		.decisions = r->o->verify ? &r->verify.decisions[0] : &r->decisions,
		.tree = r->tree,
		.tape = recorder_path(&r->recorder),
		.runs = r->was_compared ? 2 : 1,
		.difference = r->was_compared ? &r->difference : NULL,
		.status = status};
	auto_json json_t *value = NULL;
	bool is_overlay;

	programs_digest(&r->first.programs, &r->contract,
		r->first.launch ? launch_copy_fd(r->first.launch, &is_overlay) : -1);
	value = report_json(&report);
	*ret_report = json_text(value);
	return r->o->report ? report_write(r->o->report, *ret_report, err) : 0;
}

/* What an option changed about the pinned world; said at once, kept for the report. */
static char *overridden(const struct run *r)
{
	if (!r->contract.clock_step_ns)
		return NULL;
	return str_format("--clock-step-ns %llu: the clock moves when it is read, so this run no "
			  "longer matches production",
		(unsigned long long)r->contract.clock_step_ns);
}

static struct ending ending_of(const struct run *r)
{
	return (struct ending){.o = r->o,
		.contract = &r->contract,
		.first = &r->first,
		.second = &r->second,
		.difference = r->was_compared ? &r->difference : NULL,
		.parted = r->parted};
}

int run_execute(const struct run_options *o, run_say *say, int *ret_status, char **ret_report,
	struct error *err)
{
	struct run CLEANUP(run_finish) r;
	struct ending ending;
	bool wants_report = o->report || o->receipt || o->json;
	autofree char *note = NULL;

	*ret_report = NULL;
	run_init(&r, o, say);
	sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
	if (prepare(&r, err) < 0 || options_check(o, &r.contract, r.inputs.image, err) < 0 ||
		supervisor_open(&r.supervisor, err) < 0 ||
		signals_open(r.contract.tty ? SIGTSTP : 0, &r.signals, err) < 0)
		return -1;
	note = overridden(&r);
	if (note)
		say(note);
	if (substrate_is_tag(&r.substrate)) {
		autofree char *line = str_format(
			"not pinned: '%.200s' is %s now, and may be another image at the next run",
			o->image, r.inputs.image);

		say(line);
	}
	if (run_all(&r, err) < 0)
		return -1;
	if (substrate_is_tag(&r.substrate))
		notes_assume(&r.first.notes, REASON_IMAGE_NOT_PINNED, o->image);
	if (r.replay.mismatch)
		notes_add(&r.first.notes, REASON_TAPE_MISMATCH, r.replay.mismatch);
	if (note)
		notes_assume(&r.first.notes, REASON_CONTRACT_OVERRIDDEN, note);
	if (take_written(&r, wants_report, err) < 0 || take_trace(&r, err) < 0 ||
		take_picture(&r, err) < 0)
		return -1;
	ending = ending_of(&r);
	*ret_status = ending_status(&ending);
	if (wants_report && take_report(&r, *ret_status, ret_report, err) < 0)
		return -1;
	ending_say(&ending, *ret_status, say);
	return 0;
}
