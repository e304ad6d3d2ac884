/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of a contract: see one.h.
 *
 * How it works. The streams and the control socket are made, launch_start makes the container, the
 * LAUNCH frame goes out, and one poll loop serves five things until the supervisor has closed its
 * end and the guest's output is passed on: control frames, the three streams, and a signalfd. The
 * first interrupt is handed to the guest (a SIGNAL frame); the second, the time-out, a reader of
 * our output that went away and a frame that is none kill the tree, and the loop then ends the same
 * way, by the end of files. Nothing in it blocks, so no guest can hold the host up.
 */
#include "run/one.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "config/paths.h"
#include "base/str.h"
#include "wire/channel.h"
#include "run/frames.h"
#include "run/io.h"
#include "run/pty.h"

/* For what was killed to be gone. */
#define KILL_NS (5 * 1000000000ull)

struct one {
	const struct one_spec *spec;
	struct one_result *result;
	struct channel channel;
	struct io io;
	struct feed *feed, own; /* what lets input in on request, or NULL */
	struct frames_state seen;
	uint64_t deadline_ns; /* 0: none */
	uint64_t killed_ns;   /* when the tree was killed; 0: it was not */
	int interrupts;
};

void waiters_finish(struct waiters *w)
{
	for (size_t i = 0; i < w->count; i++) {
		free(w->items[i].name);
		free(w->items[i].call);
		free(w->items[i].arguments);
		free(w->items[i].what);
	}
	free(w->items);
	*w = (struct waiters){0};
}

void one_result_finish(struct one_result *r)
{
	notes_finish(&r->notes);
	programs_finish(&r->programs);
	free(r->deadlock);
	waiters_finish(&r->waiters);
	launch_free(r->launch);
	*r = (struct one_result){0};
}

/* Kills the tree and says how the run ended, unless something of more weight was said already. */
static void end_by(struct one *o, enum one_end end)
{
	if (!o->seen.has_end || o->result->end == ONE_GUEST)
		o->result->end = end;
	o->seen.has_end = true;
	launch_kill(o->result->launch);
	if (!o->killed_ns)
		o->killed_ns = clock_host_ns();
}

static int launch(struct one *o, const struct launch_spec *spec, struct error *err)
{
	const struct oci_spec *runtime = o->spec->runtime;

	return runtime ? oci_start(runtime, spec, &o->result->launch, err)
		       : launch_start(spec, &o->result->launch, err);
}

static int start_container(struct one *o, struct error *err)
{
	const struct contract *c = o->spec->contract;
	auto_conditions struct conditions k = {.cpu = o->spec->cpu,
		.delay_seed = o->spec->delay_seed,
		.timers_after_ns = o->spec->timers_after_ns,
		.trace = c->deterministic,
		.mapped = o->spec->wants_programs,
		.asks = o->feed != NULL};
	autofree char *state = c->deterministic ? paths_state() : NULL;
	autoclose int inside = -1;
	auto_bytes struct bytes text = {0};
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return error_sys(err, "create the control socket");
	inside = pair[1];
	if (channel_open(&o->channel, pair[0], err) < 0 ||
		launch_deny_filter(&k.filter, &k.filter_len, err) < 0)
		return -1;
	if (launch(o,
		    &(struct launch_spec){.contract = c,
			    .state = state,
			    .supervisor = o->spec->supervisor,
			    .control = inside,
			    .is_image = o->spec->is_image,
			    .stdio = {o->io.guest[0], o->io.guest[1], o->io.guest[2]}},
		    err) < 0)
		return -1;
	io_started(&o->io);
	if (c->tty && io_attach(&o->io, launch_terminal(o->result->launch), o->spec->in,
			      o->spec->is_quiet, err) < 0)
		return -1;
	k.memory_watch = launch_needs_memory_watch(o->result->launch);
	contract_encode(&text, c, &k);
	if (text.len > FRAME_PAYLOAD_MAX)
		return error_set(err, ERR_LIMIT, "contract of %zu bytes", text.len);
	channel_put(&o->channel, FRAME_LAUNCH, text.data, text.len);
	return 0;
}

static void note_degraded(struct one *o)
{
	size_t count = 0;
	const struct launch_degraded *list = launch_degraded(o->result->launch, &count);

	for (size_t i = 0; i < count; i++) {
		autofree char *line = str_format("degraded: %s", list[i].detail);
		bool is_said = o->spec->wants_limits || reason_info(list[i].reason)->fatal;

		notes_add(&o->result->notes, list[i].reason, list[i].detail);
		if (is_said && !o->spec->is_quiet)
			o->spec->say(line);
	}
}

static void on_signal(struct one *o, struct error *err)
{
	struct signalfd_siginfo info;
	unsigned char payload[4];

	if (read(o->spec->signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGTSTP) {
		pty_suspend();
		return;
	}
	o->result->signal = (int)info.ssi_signo;
	o->result->was_interrupted = true;
	if (++o->interrupts > 1 || !o->seen.has_started) {
		end_by(o, ONE_STOPPED);
		return;
	}
	bytes_store_u32(payload, info.ssi_signo);
	channel_put(&o->channel, FRAME_SIGNAL, payload, sizeof(payload));
	if (o->feed)
		feed_signal(o->feed, info.ssi_signo);
	/* The frame has to be there when the supervisor looks. */
	if (channel_flush(&o->channel, err) < 0 || launch_nudge(o->result->launch, err) < 0)
		end_by(o, ONE_STOPPED);
}

static int serve_channel(struct one *o, struct error *err)
{
	struct bytes_reader payload;
	uint32_t type;
	int r;

	if (channel_fill(&o->channel, err) < 0)
		return -1;
	while ((r = channel_next(&o->channel, &type, &payload, err)) > 0)
		if (frames_take(o->spec, o->result, &o->seen, type, &payload, err) < 0)
			return -1;
	return r;
}

/* Milliseconds until then, -1 for ever (0), 0 now. */
static int poll_time(uint64_t deadline_ns)
{
	uint64_t now;

	if (!deadline_ns)
		return -1;
	now = clock_host_ns();
	if (now >= deadline_ns)
		return 0;
	now = (deadline_ns - now) / 1000000 + 1;
	return now > INT32_MAX ? INT32_MAX : (int)now;
}

static bool is_timed_out(const struct one *o)
{
	return o->deadline_ns && !o->seen.has_end && clock_host_ns() >= o->deadline_ns;
}

static int wait_time(const struct one *o)
{
	uint64_t until = o->killed_ns && !o->channel.ended ? o->killed_ns + KILL_NS
			 : o->seen.has_end		   ? 0
							   : o->deadline_ns,
		 feed = o->feed && !o->channel.ended ? feed_deadline_ns(o->feed) : 0,
		 journal = o->spec->journal ? journal_deadline_ns(o->spec->journal) : 0;

	if (journal && (!feed || journal < feed))
		feed = journal;
	return poll_time(feed && (!until || feed < until) ? feed : until);
}

/* What came is on no tape. */
static void note_input(struct one *o, const char *from)
{
	autofree char *line = NULL, *what = NULL;

	what = o->feed->failed.code ? str_format("read of %s, which is not recorded: %s", from,
					      o->feed->failed.msg)
				    : str_format("read of %s", from);
	if (!o->result->notes.not_enforced[REASON_EXTERNAL_INPUT].count && !o->spec->is_quiet) {
		line = str_format("determinism not enforced: %s", what);
		o->spec->say(line);
	}
	notes_add(&o->result->notes, REASON_EXTERNAL_INPUT, what);
}

/* A signal came in answer to a question: from the tape it goes to the guest now; one that is on no
 * tape is told. */
static void take_signal(struct one *o, const struct feed_answer *answer)
{
	unsigned char payload[4];

	if (o->feed->reader && answer->signal) {
		bytes_store_u32(payload, answer->signal);
		channel_put(&o->channel, FRAME_SIGNAL, payload, sizeof(payload));
	} else if (o->feed->reader || o->feed == &o->own || o->feed->failed.code) {
		notes_add(&o->result->notes, REASON_SIGNAL_FROM_OUTSIDE,
			"a signal came from outside");
	}
}

/* Answers the supervisor's question, if there is one and an answer to it. */
static int serve_feed(struct one *o, struct error *err)
{
	struct feed_answer answer;
	auto_bytes struct bytes b = {0};
	int r;

	if (!o->feed || o->channel.ended)
		return 0;
	r = feed_step(o->feed, &answer, err);
	if (o->feed->divergence.diverged) {
		o->result->divergence = o->feed->divergence;
		end_by(o, ONE_DIVERGED);
	}
	if (r <= 0)
		return r;
	/* Before the guest has it: a journal without it would be of another run. */
	if (o->spec->journal && o->feed->failed.code) {
		*err = o->feed->failed;
		return error_wrap(err, "the journal");
	}
	if ((o->feed == &o->own || o->feed->failed.code) &&
		(answer.len || answer.stream || (answer.flags & FRAME_INPUT_END)))
		note_input(o, answer.stream ? "a connection" : "standard input");
	if (o->spec->moments && (answer.len || answer.flags || answer.stream))
		bytes_put_u64(o->spec->moments, o->spec->decisions->count);
	if (!answer.stream && (answer.flags & FRAME_INPUT_SIGNAL))
		take_signal(o, &answer);
	bytes_put_u64(&b, answer.request);
	bytes_put_u64(&b, answer.now_ns);
	if (answer.stream)
		bytes_put_u32(&b, answer.stream);
	bytes_put_u32(&b, answer.flags);
	bytes_put_u32(&b, answer.stream ? answer.error : answer.len);
	bytes_put(&b, answer.data, answer.stream ? answer.len : 0);
	channel_put(&o->channel, answer.stream ? FRAME_NET_INPUT : FRAME_INPUT, b.data, b.len);
	return channel_flush(&o->channel, err);
}

static void take_divergence(struct one *o, const struct feed_divergence *d)
{
	if (!d->diverged || o->result->divergence.diverged)
		return;
	o->result->divergence = *d;
	end_by(o, ONE_DIVERGED);
}

static int pump_streams(
	struct one *o, struct pollfd *fds, const size_t counts[3], struct error *err)
{
	struct pump *pumps[3] = {&o->io.in, &o->io.out, &o->io.err};
	static const char *const names[3] = {"standard input", "standard output", "standard error"};

	for (int i = 0; i < 3; i++) {
		if (pump_step(pumps[i], fds, counts[i], err) < 0)
			return error_wrap(err, "%s", names[i]);
		fds += counts[i];
		if (i > 0 && pumps[i]->is_broken &&
			!(o->seen.has_end && o->result->end != ONE_GUEST))
			end_by(o, ONE_CLOSED);
	}
	if (!o->spec->journal)
		return 0;
	take_divergence(o, &o->spec->journal->divergence);
	return journal_commit(o->spec->journal, err);
}

static bool is_over(const struct one *o)
{
	return o->channel.ended && pump_is_done(&o->io.out) && pump_is_done(&o->io.err);
}

/*
 * Who made the container is gone, and with it whoever would remove it. The supervisor of a run that
 * has just ended is not quite gone then: what it sent is there, and read.
 */
static void end_lost(struct one *o)
{
	if (o->seen.has_end)
		return;
	end_by(o, ONE_DIED);
	error_set(&o->result->failed, ERR_DIED,
		"%s ended while the program ran (did its daemon die?), so the program was ended "
		"too",
		o->spec->runtime->runtime->dialect->name);
}

/* One turn of the loop. */
static int turn(struct one *o, struct error *err)
{
	struct pollfd fds[11 + FEED_POLL];
	size_t n = 3, counts[3];
	bool is_full = o->feed && outside_is_full(&o->feed->outside);

	fds[0] = (struct pollfd){.fd = o->channel.ended ? -1 : o->channel.fd,
		.events = (is_full ? 0 : POLLIN) | (channel_has_output(&o->channel) ? POLLOUT : 0)};
	fds[1] = (struct pollfd){.fd = o->spec->signals, .events = POLLIN};
	fds[2] = (struct pollfd){
		.fd = o->channel.ended || o->seen.has_end ? -1 : launch_lost_fd(o->result->launch),
		.events = POLLIN};
	n += counts[0] = o->channel.ended ? 0 : pump_poll(&o->io.in, fds + n);
	n += counts[1] = pump_poll(&o->io.out, fds + n);
	n += counts[2] = pump_poll(&o->io.err, fds + n);
	if (o->feed && !o->channel.ended)
		n += feed_poll(o->feed, fds + n);
	if (poll(fds, n, wait_time(o)) < 0)
		return errno == EINTR ? 0 : error_sys(err, "poll");
	if (is_timed_out(o))
		end_by(o, ONE_TIMEOUT);
	if (fds[1].revents)
		on_signal(o, err);
	if (channel_flush(&o->channel, err) < 0)
		return -1;
	if (o->feed)
		outside_flush(&o->feed->outside);
	if (fds[0].revents && serve_channel(o, err) < 0)
		return -1;
	if (serve_feed(o, err) < 0)
		return -1;
	if (pump_streams(o, fds + 3, counts, err) < 0)
		return -1;
	if (fds[2].revents && !o->channel.ended)
		end_lost(o);
	if (pty_take_suspend())
		pty_suspend();
	return 0;
}

/* Neither the guests nor the limit of memory did it. */
static void note_killed(struct one *o)
{
	static const char detail[] = "a process was killed by signal 9, which nothing inside sent";
	autofree char *line = str_format("determinism not enforced: %s", detail);

	notes_add(&o->result->notes, REASON_SIGNAL_FROM_OUTSIDE, detail);
	if (!o->spec->is_quiet && !o->result->was_interrupted)
		o->spec->say(line);
}

/* What init's own death says when no frame did. */
static void judge_death(struct one *o, int status)
{
	struct one_result *r = o->result;

	/* A runtime takes its time to answer, so it is asked only where the answer may be yes. */
	if (!o->spec->runtime || !o->seen.has_end || r->was_killed)
		r->oom = r->oom || launch_was_oom(r->launch);
	if (r->was_killed && !r->oom)
		note_killed(o);
	if (o->seen.has_end)
		return;
	if (r->oom) {
		r->end = ONE_GUEST;
		r->signal = SIGKILL;
		return;
	}
	r->end = ONE_DIED;
	if (WIFSIGNALED(status))
		error_set(&r->failed, ERR_DIED,
			"the supervisor died of signal %d (%s); this run says nothing",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		error_set(&r->failed, ERR_DIED,
			"the supervisor ended with status %d before the guest did",
			WEXITSTATUS(status));
}

/* It was killed some time ago: a runtime may have to be told twice. */
static bool is_overdue(const struct one *o)
{
	return o->killed_ns && clock_host_ns() >= o->killed_ns + KILL_NS;
}

static int loop(struct one *o, struct error *err)
{
	bool reaped = false;
	int status = 0;

	while (!is_over(o)) {
		if (turn(o, err) < 0) {
			launch_kill(o->result->launch);
			return -1;
		}
		/* Once all are dead the pipes end by themselves; a caller that reads no more must
		 * not hold us. */
		if (!reaped && (o->channel.ended || is_overdue(o))) {
			if (launch_wait(o->result->launch, &status, err) < 0)
				return -1;
			reaped = o->channel.ended = true;
			judge_death(o, status);
			o->deadline_ns = 0;
		}
		if (reaped && o->result->end > ONE_DEADLOCK) {
			pump_drop(&o->io.out);
			pump_drop(&o->io.err);
		}
	}
	if (!reaped) {
		if (launch_wait(o->result->launch, &status, err) < 0)
			return -1;
		judge_death(o, status);
	}
	return 0;
}

static void one_finish(struct one *o)
{
	channel_close(&o->channel);
	io_close(&o->io);
	feed_finish(&o->own);
}

/* A tape that goes on after its run has ended is another run's. */
static int check_feed(struct one *o, struct error *err)
{
	const struct feed_divergence *d = NULL;

	if (o->result->end > ONE_DEADLOCK)
		return 0;
	if (o->feed && feed_end(o->feed, err) < 0)
		return -1;
	if (o->spec->journal) {
		journal_check_end(o->spec->journal);
		d = &o->spec->journal->divergence;
	}
	if (o->feed && o->feed->divergence.diverged)
		d = &o->feed->divergence;
	if (d && d->diverged) {
		o->result->divergence = *d;
		o->result->end = ONE_DIVERGED;
	}
	return 0;
}

/* What comes from outside into a deterministic run comes on request. */
static void choose_feed(struct one *o)
{
	const struct contract *c = o->spec->contract;

	feed_init(&o->own);
	if (c->deterministic && !c->tty &&
		(o->spec->in->kind == CONTRACT_STDIN_STREAM || contract_has_outside(c)))
		o->feed = o->spec->feed ? o->spec->feed : &o->own;
	if (o->feed && contract_has_outside(c)) {
		o->feed->outside.network = c->network;
		o->feed->outside.say = o->spec->is_quiet ? NULL : o->spec->say;
	}
	o->seen.feed = o->feed;
}

int one_run(const struct one_spec *spec, struct one_result *ret, struct error *err)
{
	auto_one_result struct one_result result = {0};
	struct one CLEANUP(one_finish) o = {.spec = spec, .result = &result, .channel = {.fd = -1}};

	choose_feed(&o);
	if (io_open(&o.io, spec->contract, spec->in, spec->is_quiet, o.feed, err) < 0)
		return -1;
	o.io.out.spool = spec->spool_out;
	o.io.err.spool = spec->spool_err;
	o.io.out.journal = o.io.err.journal = spec->journal;
	o.io.out.stream = 1;
	o.io.err.stream = 2;
	result.real_from_ns = clock_host_real_ns();
	if (start_container(&o, err) < 0)
		return -1;
	note_degraded(&o);
	if (spec->timeout_ns)
		o.deadline_ns = clock_host_ns() + spec->timeout_ns;
	if (loop(&o, err) < 0 || check_feed(&o, err) < 0)
		return -1;
	result.real_to_ns = clock_host_real_ns();
	digest_text(o.io.out.digest, result.out);
	digest_text(o.io.err.digest, result.err);
	result.out_bytes = o.io.out.total;
	result.err_bytes = o.io.err.total;
	result.out_spooled = o.io.out.spooled;
	result.err_spooled = o.io.err.spooled;
	*ret = result;
	result = (struct one_result){0};
	return 0;
}
