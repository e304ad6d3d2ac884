/* SPDX-License-Identifier: Apache-2.0 */
/* `sandglass run` as one function: see run.h. */
#include "run/run.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "codec/json.h"
#include "run/contract.h"
#include "run/inputs.h"
#include "run/json.h"
#include "run/one.h"
#include "run/pty.h"
#include "run/stdin.h"
#include "run/supervisor.h"

bool run_is_raw(void)
{
	return pty_is_raw();
}

/* Signals come through a descriptor, so that none can cut a run short between two steps. */
static int open_signals(bool tty, int *ret_fd, struct error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	if (tty)
		sigaddset(&set, SIGTSTP);
	sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return error_sys(err, "block signals");
	*ret_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return *ret_fd < 0 ? error_sys(err, "signalfd") : 0;
}

struct run {
	const struct run_options *o;
	run_say *say;
	struct contract contract;
	struct inputs inputs;
	struct stdin_source in;
};

static void run_finish(struct run *r)
{
	contract_finish(&r->contract);
	stdin_close(&r->in);
}

static int prepare(struct run *r, struct error *err)
{
	auto_contract_host struct contract_host host = {0};

	if (contract_host_read(&host, err) < 0 ||
		contract_build(r->o, &host, &r->contract, r->say, err) < 0 ||
		stdin_open(&r->in, &r->contract, err) < 0)
		return -1;
	return 0;
}

int run_contract_text(const struct run_options *o, run_say *say, char **ret_text, struct error *err)
{
	struct run CLEANUP(run_finish) r = {.o = o, .say = say, .in = {.file = -1, .spool = -1}};
	auto_json json_t *value = NULL;

	if (prepare(&r, err) < 0)
		return -1;
	value = contract_json(&r.contract, &r.inputs);
	*ret_text = json_text(value);
	return 0;
}

/* The status of a run by itself, and the lines that go with it. */
static int judge(const struct run *r, const struct one_result *one)
{
	autofree char *line = NULL;
	int guest = one->signal ? 128 + one->signal : one->code;

	switch (one->end) {
	case ONE_FAILED:
	case ONE_DIED:
		r->say(one->failed.msg);
		return error_status(&one->failed);
	case ONE_TIMEOUT:
		r->say("timed out; everything in the sandbox was killed");
		return 124;
	case ONE_DEADLOCK:
		return 123;
	case ONE_CLOSED:
		return 128 + SIGPIPE;
	case ONE_STOPPED:
		return 128 + one->signal;
	case ONE_GUEST:
		break;
	}
	if (!r->contract.deterministic || notes_is_enforced(&one->notes))
		return guest;
	line = str_format(
		"the guest exited %d but this run is NOT reproducible; see the messages above",
		guest);
	r->say(line);
	return 121;
}

int run_execute(const struct run_options *o, run_say *say, int *ret_status, char **ret_report,
	struct error *err)
{
	struct run CLEANUP(run_finish) r = {.o = o, .say = say, .in = {.file = -1, .spool = -1}};
	autoclose int signals = -1, supervisor = -1;
	auto_one_result struct one_result first = {0};
	auto_decisions struct decisions decisions = {.keep = -1};

	if (prepare(&r, err) < 0 || supervisor_open(&supervisor, err) < 0 ||
		open_signals(r.contract.tty, &signals, err) < 0)
		return -1;
	decisions_init(&decisions);
	if (one_run(&(struct one_spec){.contract = &r.contract,
			    .supervisor = supervisor,
			    .cpu = -1,
			    .in = &r.in,
			    .timeout_ns = o->timeout_ns,
			    .signals = signals,
			    .spool_out = -1,
			    .spool_err = -1,
			    .decisions = &decisions,
			    .say = say},
		    &first, err) < 0)
		return -1;
	*ret_status = judge(&r, &first);
	*ret_report = NULL;
	return 0;
}
