/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs side by side: see attempt.h.
 *
 * How it works. The files that a run leaves are opened first, so that both processes have them; a
 * child makes the run, writes its outcome into the last of them, whole, and ends. Runs begin in
 * their order; when one is accepted, those after it are ended and those before it are waited for.
 */
#include "run/attempt.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/temp.h"
#include "run/written.h"

/* A run that is being made. */
struct slot {
	pid_t pid; /* 0: free */
	int pidfd, result;
	size_t which;
	struct attempt left;
};

struct crew {
	const struct attempts *s;
	struct slot *slots;
	size_t next, count, done; /* next: where to go on; count: no use in runs from there on */
	bool has_found;
	struct attempt found;
};

void attempt_finish(struct attempt *a)
{
	fd_close(&a->out);
	fd_close(&a->err);
	decisions_finish(&a->decisions);
	*a = ATTEMPT_NONE;
}

static void slot_finish(struct slot *slot)
{
	if (slot->pid) {
		/* The first is handed to the guest, the second ends everything. */
		kill(slot->pid, SIGTERM);
		kill(slot->pid, SIGHUP);
		while (waitpid(slot->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	slot->pid = 0;
	fd_close(&slot->pidfd);
	fd_close(&slot->result);
	attempt_finish(&slot->left);
}

static void crew_finish(struct crew *c)
{
	for (unsigned i = 0; c->slots && i < c->s->jobs; i++)
		slot_finish(&c->slots[i]);
	free(c->slots);
	attempt_finish(&c->found);
}

/* Each on a CPU of its own, as far as there are. */
static int cpu_of(unsigned job)
{
	cpu_set_t set;
	int count;

	if (sched_getaffinity(0, sizeof(set), &set) < 0 || (count = CPU_COUNT(&set)) == 0)
		return -1;
	job %= (unsigned)count;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set) && job-- == 0)
			return i;
	return -1;
}

static void tell_notes(const struct notes *n, struct outcome *o)
{
	o->is_enforced = notes_is_enforced(n);
	for (int i = 0; i < REASON_COUNT; i++)
		if (n->not_enforced[i].count && reason_info((enum reason)i)->fatal) {
			snprintf(o->not_enforced, sizeof(o->not_enforced), "%s",
				n->not_enforced[i].first);
			return;
		}
}

static int make_run(const struct attempts *s, const struct slot *slot, unsigned job,
	struct outcome *o, struct error *err)
{
	struct contract contract = *s->spec->contract;
	struct one_spec spec = *s->spec;
	auto_one_result struct one_result r = {0};
	struct decisions decisions = slot->left.decisions;

	s->vary(s->arg, slot->which, &contract);
	spec.contract = &contract;
	spec.cpu = cpu_of(job);
	spec.is_quiet = true;
	spec.spool_out = slot->left.out;
	spec.spool_err = slot->left.err;
	spec.decisions = &decisions;
	if (one_run(&spec, &r, err) < 0)
		return -1;
	o->end = r.end;
	o->code = r.code;
	o->signal = r.signal;
	o->failed = r.failed;
	memcpy(o->out, r.out, sizeof(o->out));
	memcpy(o->err, r.err, sizeof(o->err));
	tell_notes(&r.notes, o);
	if (r.deadlock)
		snprintf(o->deadlock, sizeof(o->deadlock), "%s", r.deadlock);
	if (r.end == ONE_GUEST || r.end == ONE_DEADLOCK)
		return written_digest(&contract, &r, -1, o->tree, err);
	return 0;
}

static NORETURN void child(
	const struct attempts *s, const struct slot *slot, unsigned job, pid_t parent)
{
	struct outcome o = {0};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* What the terminal sends is for the parent, which ends us. */
	if (getppid() != parent || setpgid(0, 0) < 0)
		_exit(1);
	o.is_whole = make_run(s, slot, job, &o, &o.failed) == 0;
	_exit(fd_write_all(slot->result, &o, sizeof(o), NULL) < 0);
}

static int start(struct crew *c, unsigned job, struct error *err)
{
	struct slot *slot = &c->slots[job];
	pid_t parent = getpid();

	decisions_init(&slot->left.decisions);
	slot->which = c->next++;
	if (temp_open(&slot->left.out, err) < 0 || temp_open(&slot->left.err, err) < 0 ||
		temp_open(&slot->result, err) < 0 || decisions_keep(&slot->left.decisions, err) < 0)
		return -1;
	slot->pid = fork();
	if (slot->pid == 0)
		child(c->s, slot, job, parent);
	if (slot->pid < 0) {
		slot->pid = 0;
		return error_sys(err, "fork");
	}
	slot->pidfd = (int)syscall(SYS_pidfd_open, slot->pid, 0);
	return slot->pidfd < 0 ? error_sys(err, "pidfd_open") : 0;
}

/* The run of this slot is over: what did it say? */
static int take(struct crew *c, struct slot *slot, struct error *err)
{
	struct outcome *o = &slot->left.outcome;
	off_t kept = lseek(slot->left.decisions.keep, 0, SEEK_END);
	int status;

	while (waitpid(slot->pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_sys(err, "wait for a run");
	slot->pid = 0;
	if (pread(slot->result, o, sizeof(*o), 0) != sizeof(*o))
		return error_set(err, ERR_DIED, "a run died before its end");
	if (!o->is_whole || o->end == ONE_FAILED || o->end == ONE_DIED) {
		*err = o->failed;
		return -1;
	}
	slot->left.decisions.kept = kept > 0 ? (uint64_t)kept : 0;
	slot->left.decisions.count = slot->left.decisions.kept / DECISION_SIZE;
	if (c->s->told)
		c->s->told(c->s->arg, ++c->done);
	if (slot->which < c->count && c->s->judge(c->s->arg, o)) {
		attempt_finish(&c->found);
		c->found = slot->left;
		slot->left = ATTEMPT_NONE;
		c->has_found = true;
		c->count = slot->which;
	}
	slot_finish(slot);
	return 0;
}

static int wait_for_one(struct crew *c, struct error *err)
{
	struct pollfd fds[ATTEMPT_JOBS_MAX + 1];
	struct signalfd_siginfo info;
	unsigned jobs = c->s->jobs;

	for (unsigned i = 0; i < jobs; i++)
		fds[i] = (struct pollfd){
			.fd = c->slots[i].pid ? c->slots[i].pidfd : -1, .events = POLLIN};
	fds[jobs] = (struct pollfd){.fd = c->s->spec->signals, .events = POLLIN};
	if (poll(fds, jobs + 1, -1) < 0)
		return errno == EINTR ? 0 : error_sys(err, "poll");
	if (fds[jobs].revents && read(c->s->spec->signals, &info, sizeof(info)) == sizeof(info))
		return error_set(err, ERR_SYSTEM, "interrupted by signal %u", info.ssi_signo);
	for (unsigned i = 0; i < jobs; i++)
		if (fds[i].revents && take(c, &c->slots[i], err) < 0)
			return -1;
	return 0;
}

/* Fills the free slots; ends runs that are of no use any more. True while one goes on. */
static int fill(struct crew *c, struct error *err)
{
	int busy = 0;

	for (unsigned i = 0; i < c->s->jobs; i++) {
		if (c->slots[i].pid && c->slots[i].which >= c->count)
			slot_finish(&c->slots[i]);
		if (!c->slots[i].pid && c->next < c->count && start(c, i, err) < 0)
			return -1;
		busy |= c->slots[i].pid != 0;
	}
	return busy;
}

int attempts_find(const struct attempts *s, size_t count, size_t *ret_which, struct attempt *ret,
	struct error *err)
{
	struct crew CLEANUP(crew_finish) c = {.s = s, .count = count, .found = ATTEMPT_NONE};
	int busy;

	c.slots = mem_array(s->jobs, sizeof(*c.slots));
	for (unsigned i = 0; i < s->jobs; i++)
		c.slots[i] = (struct slot){.pidfd = -1, .result = -1, .left = ATTEMPT_NONE};
	while ((busy = fill(&c, err)) > 0)
		if (wait_for_one(&c, err) < 0)
			return -1;
	if (busy < 0)
		return -1;
	if (!c.has_found)
		return 0;
	*ret_which = c.count;
	*ret = c.found;
	c.found = ATTEMPT_NONE;
	return 1;
}
