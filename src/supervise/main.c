/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandglass-supervise: init of the sandbox. Reads the contract from its control socket, starts the
 * guest, runs it under the engine, and tells the host how it ended.
 */
#include "supervise/main.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervise/arch.h"
#include "supervise/attach.h"
#include "supervise/engine/choice.h"
#include "supervise/engine/clock.h"
#include "supervise/engine/entropy.h"
#include "supervise/files/files.h"
#include "supervise/files/nameless.h"
#include "supervise/guest.h"
#include "supervise/host.h"
#include "supervise/io/external.h"
#include "supervise/io/inotify.h"
#include "supervise/io/io.h"
#include "supervise/io/outside.h"
#include "supervise/engine/loop.h"
#include "supervise/engine/mapped.h"
#include "supervise/probe.h"
#include "supervise/report.h"
#include "supervise/spin/spin.h"
#include "supervise/engine/tighten.h"
#include "supervise/engine/vdso.h"
#include "supervise/io/watch.h"
#include "wire/frame.h"

enum { CONTROL = 3 };

static struct contract contract;
static struct conditions conditions;

const struct contract *contract_get(void)
{
	return &contract;
}

static int read_launch(struct error *err)
{
	auto_bytes struct bytes b = {0};
	uint32_t type;
	int r = frame_recv(CONTROL, &type, &b, err);

	if (r < 0)
		return -1;
	if (r == 0)
		return error_set(err, ERR_DIED, "the host closed the control socket");
	if (type != FRAME_LAUNCH)
		return error_set(
			err, ERR_FORMAT, "expected a LAUNCH frame, got %s", frame_name(type));
	return contract_decode(b.data, b.len, &contract, &conditions, err);
}

static void raise_files(void)
{
	struct rlimit limit;

	/* Our own descriptors only; the guest's limit is set from the contract. */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
			return;
	}
}

static void report_status(int status)
{
	if (WIFSIGNALED(status))
		report_exit(1, (uint32_t)WTERMSIG(status));
	else
		report_exit(0, (uint32_t)WEXITSTATUS(status));
}

/* Without determinism: init of a container, nothing more. */
static int run_plain(struct error *err)
{
	pid_t first, pid;
	int status = 0, sig;

	host_init();
	if (guest_start(&contract, &conditions, &first, err) < 0)
		return -1;
	report_started((uint32_t)first);
	for (;;) {
		pid = waitpid(-1, &status, __WALL);
		if (pid == first)
			break;
		if (pid < 0 && errno == ECHILD)
			return error_set(err, ERR_DIED, "the first process is gone");
		if (pid < 0 && host_take_message())
			while ((sig = report_poll_signal()) != 0)
				kill(first, sig);
	}
	if (guest_exec_failed(err))
		return -1;
	kill(-1, SIGKILL);
	report_status(status);
	return 0;
}

static int run_engine(struct error *err)
{
	struct process *p;
	struct error why;
	pid_t first;
	int status;

	host_pin(conditions.cpu);
	/* Ours trap like the guests': else every switch between us would write a control register,
	 * which costs more than the whole stop where the kernel runs in a virtual machine. */
	if (arch_trap_setup() < 0)
		return error_sys(err, "make the time-stamp counter trap");
	host_set_delays(conditions.delay_seed);
	call_init();
	clock_init(contract.epoch_ns, contract.monotonic_ns, contract.clock_step_ns);
	entropy_init(contract.entropy_key);
	choice_init(&contract);
	spin_init(conditions.timers_after_ns);
	if (vdso_init(&why) < 0)
		report_not_enforced(REASON_VDSO_UNPATCHED, "could not patch vDSO: %s", why.msg);
	arch_report_assumptions();
	loop_init();
	if (conditions.memory_watch)
		watch_memory(contract.memory_bytes);
	files_init();
	if (conditions.mapped)
		mapped_start();
	nameless_init();
	io_init(contract.stdin_kind == CONTRACT_STDIN_STREAM, contract.tty);
	external_init(conditions.asks);
	outside_init(conditions.asks && contract_has_outside(&contract));
	if (guest_start(&contract, &conditions, &first, err) < 0)
		return -1;
	report_started((uint32_t)first);
	p = process_new(first, 1);
	if (contract.stdin_kind == CONTRACT_STDIN_STREAM || contract.tty)
		p->tight = TIGHT_ALL;
	task_new(first, p, mm_new())->state = TASK_NATIVE; /* on its way to its first stop */
	status = loop_run(p);
	if (guest_exec_failed(err))
		return -1;
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR)
		continue;
	outside_drain();
	inotify_over();
	files_settle();
	if (status < 0)
		report_exit(1, SIGKILL);
	else {
		io_finish(status);
		report_status(status);
	}
	return 0;
}

/* How we were started; -1 after saying why not. */
static int take_place(int argc, char **argv)
{
	struct error err;

	if (argc == 2 && strcmp(argv[1], "--init") == 0) {
		/* Elsewhere only once the guest is seized, for which we have no privilege there. */
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
		return fcntl(CONTROL, F_SETFD, FD_CLOEXEC);
	}
	if (argc == 3 && strcmp(argv[1], "--connect") == 0) {
		if (attach_to(argv[2], &err) == 0)
			return 0;
		dprintf(2, "sandglass-supervise: %s\n", err.msg);
		return -1;
	}
	dprintf(2, "sandglass-supervise: started by `sandglass run` inside its sandbox, not by "
		   "hand\n");
	return -1;
}

int main(int argc, char **argv)
{
	struct error err;
	int r;

	if (argc == 2 && strcmp(argv[1], "--probe") == 0)
		return probe_main();
	if (take_place(argc, argv) < 0)
		return 125;
	prctl(PR_SET_NAME, "sandglass-super", 0, 0, 0); /* older kernels name it by a descriptor */
	raise_files();
	report_init(CONTROL, false);
	if (read_launch(&err) < 0) {
		report_failed(&err);
		return 125;
	}
	report_init(CONTROL, contract.deterministic || conditions.trace);
	r = contract.deterministic ? run_engine(&err) : run_plain(&err);
	if (r < 0) {
		report_failed(&err);
		kill(-1, SIGKILL);
		return error_status(&err);
	}
	return 0;
}
