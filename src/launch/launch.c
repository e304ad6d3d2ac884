/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native container: see launch.h.
 *
 * How it works: the launcher (us) makes the control groups, works out a plan, and clones init into
 * new namespaces. Init waits at a socket pair until its id maps are written. It then joins the
 * groups, becomes the guest's ids, builds the view, drops what it may do and execs the supervisor.
 * On the way it sends the written layer of the private copy; an error comes the same way, and the
 * end of the stream says that the exec was done. All that the container is hangs on init: its
 * death takes the processes and mounts along, and only the control groups are left to remove.
 */
#include "launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "launch/cgroup.h"
#include "launch/copy.h"
#include "launch/init.h"
#include "launch/kind.h"
#include "launch/landlock.h"
#include "launch/link.h"
#include "launch/ns.h"
#include "launch/plan.h"

/* Each limit, Landlock, and the first bind that cannot be id-mapped. */
enum { DEGRADED_MAX = CGROUP_LIMITS + 2 };

struct native {
	struct launch launch; /* first */
	int pidfd;	      /* -1 until init exists */
	bool reaped;
	int status;
	struct cgroup *cgroup;
	bool oom;
	int copy_fd, terminal_fd;
	bool copy_is_overlay;
	struct launch_degraded degraded[DEGRADED_MAX];
	size_t degraded_count;
};

static const char *const degraded_texts[CGROUP_LIMITS] = {
	[CGROUP_MEMORY] =
		"memory: no control group can be made, so it is bounded by RLIMIT_DATA and the "
		"supervisor's watch alone; what is held in memfds or tmpfs is seen late",
	[CGROUP_PIDS] =
		"pids: no control group can be made, so processes are bounded by RLIMIT_NPROC "
		"alone",
	[CGROUP_CPU] =
		"cpu: no control group can be made, so only pinning bounds the run to one CPU",
};

static void note(struct native *l, const char *detail)
{
	struct launch_degraded *d = &l->degraded[l->degraded_count++];

	d->reason = REASON_LIMIT_DEGRADED;
	snprintf(d->detail, sizeof(d->detail), "%s", detail);
}

static void note_degraded(struct native *l)
{
	for (int i = 0; i < CGROUP_LIMITS; i++)
		if (!cgroup_has(l->cgroup, (enum cgroup_limit)i))
			note(l, degraded_texts[i]);
	if (!landlock_is_there())
		note(l, "writes: this kernel has no Landlock, so only mounts and owners say where "
			"the guest may write");
}

/* As root the guest is nobody the host knows: without an id map it has the rights of others. */
static void note_unmapped(struct native *l, const struct plan *p)
{
	char detail[sizeof(l->degraded[0].detail)];

	for (size_t i = 0; i < p->place_count; i++) {
		if (p->places[i].mapped || p->places[i].kind == PLAN_COPY)
			continue;
		snprintf(detail, sizeof(detail),
			"bind: its file system cannot be id-mapped, so that the guest has the "
			"rights of "
			"others in '%.80s'",
			p->places[i].dest);
		note(l, detail);
		return;
	}
}

int launch_give(int fd, struct error *err)
{
	struct idmap ids = idmap_choose();

	if (ids.privileged && fchown(fd, ids.uid, ids.gid) < 0)
		return error_sys(err, "give a stream to the guest");
	return 0;
}

static int fill_copy(const struct plan *p, int to, int link, struct error *err)
{
	autoclose int from = open(p->copy->source, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (from < 0)
		return error_sys(err, "copy '%s'", p->copy->source);
	if (copy_tree(from, to, &p->ids, err) < 0)
		return error_wrap(err, "copy '%s'", p->copy->source);
	return link_send(link, LINK_GO, -1, NULL, err);
}

/* From the go until init has been replaced by the supervisor. */
static int attend(struct native *l, const struct plan *p, int link, struct error *err)
{
	for (;;) {
		autoclose int fd = -1;
		enum link_kind kind;

		if (link_recv(link, &kind, &fd, err) < 0)
			return -1;
		if (kind == LINK_END)
			return 0;
		if (kind == LINK_TTY && fd >= 0 && p->contract->tty && l->terminal_fd < 0) {
			l->terminal_fd = take_fd(fd);
			continue;
		}
		if ((kind != LINK_UPPER && kind != LINK_COPY) || fd < 0 || !p->copy)
			return error_set(err, ERR_FORMAT, "init sent what it should not");
		l->copy_is_overlay = kind == LINK_UPPER;
		if (kind == LINK_COPY && fill_copy(p, fd, link, err) < 0)
			return -1;
		l->copy_fd = take_fd(fd);
	}
}

static int map_sys(const struct plan *p, pid_t pid, struct error *err)
{
	autoclose int mapping = -1;
	char path[64];

	if (p->sys.tree < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	mapping = open(path, O_RDONLY | O_CLOEXEC);
	return mapping < 0 ? error_sys(err, "open %s", path) : sys_kept_map(&p->sys, mapping, err);
}

static int start(struct native *l, const struct launch_spec *spec, struct error *err)
{
	auto_plan struct plan p = {.rootfs_tree = -1, .sys = {.tree = -1}};
	int pair[2] = {-1, -1};
	autoclose int ours = -1, theirs = -1;
	pid_t pid;

	l->cgroup = cgroup_new(spec->contract);
	note_degraded(l);
	if (plan_init(&p, spec, l->cgroup, err) < 0 || link_open(pair, err) < 0)
		return -1;
	note_unmapped(l, &p);
	ours = pair[0];
	theirs = pair[1];
	pid = ns_clone_init(cgroup_clone_fd(l->cgroup), &l->pidfd, err);
	if (pid < 0)
		return -1;
	if (pid == 0) {
		fd_close(&ours);
		init_main(&p, theirs);
	}
	fd_close(&theirs);
	if (idmap_write(&p.ids, pid, spec->contract, err) < 0 || map_sys(&p, pid, err) < 0 ||
		link_send(ours, LINK_GO, -1, NULL, err) < 0 || attend(l, &p, ours, err) < 0) {
		if (!p.ids.privileged)
			ns_explain_refusal(err);
		return -1;
	}
	return 0;
}

static int native_terminal(struct launch *launch)
{
	struct native *l = (struct native *)launch;

	return take_fd(l->terminal_fd);
}

/* Init dies with whoever made it. */
static int native_lost_fd(const struct launch *launch)
{
	(void)launch;
	return -1;
}

static int native_copy_fd(const struct launch *launch, bool *ret_is_overlay)
{
	const struct native *l = (const struct native *)launch;

	*ret_is_overlay = l->copy_is_overlay;
	return l->copy_fd;
}

static const struct launch_degraded *native_degraded(const struct launch *launch, size_t *ret_count)
{
	const struct native *l = (const struct native *)launch;

	*ret_count = l->degraded_count;
	return l->degraded;
}

static bool native_needs_memory_watch(const struct launch *launch)
{
	const struct native *l = (const struct native *)launch;

	return !cgroup_has(l->cgroup, CGROUP_MEMORY);
}

static int send_signal(const struct native *l, int sig)
{
	return (int)syscall(SYS_pidfd_send_signal, l->pidfd, sig, NULL, 0);
}

static int native_nudge(struct launch *launch, struct error *err)
{
	struct native *l = (struct native *)launch;

	/* Dead already is no error: the pidfd says so. */
	if (!l->reaped && send_signal(l, SIGUSR1) < 0 && errno != ESRCH)
		return error_sys(err, "wake the supervisor");
	return 0;
}

static void native_kill(struct launch *launch)
{
	struct native *l = (struct native *)launch;

	if (l->pidfd >= 0 && !l->reaped)
		send_signal(l, SIGKILL);
}

/* The form of waitpid for what waitid tells. */
static int status_of(const siginfo_t *info)
{
	if (info->si_code == CLD_EXITED)
		return (info->si_status & 0xff) << 8;
	return (info->si_status & 0x7f) | (info->si_code == CLD_DUMPED ? 0x80 : 0);
}

static int native_wait(struct launch *launch, int *ret_status, struct error *err)
{
	struct native *l = (struct native *)launch;
	siginfo_t info = {0};

	while (!l->reaped) {
		if (waitid(P_PIDFD, (id_t)l->pidfd, &info, WEXITED | __WALL) < 0) {
			if (errno == EINTR)
				continue;
			return error_sys(err, "wait for the supervisor");
		}
		l->reaped = true;
		l->status = status_of(&info);
		l->oom = cgroup_was_oom(l->cgroup);
	}
	*ret_status = l->status;
	return 0;
}

static bool native_was_oom(const struct launch *launch)
{
	const struct native *l = (const struct native *)launch;

	return l->oom;
}

static void native_free(struct launch *launch)
{
	struct native *l = (struct native *)launch;
	int status;

	if (l->pidfd >= 0) {
		launch_kill(launch);
		(void)!launch_wait(launch, &status, NULL);
	}
	fd_close(&l->pidfd);
	fd_close(&l->copy_fd);
	fd_close(&l->terminal_fd);
	cgroup_free(l->cgroup);
	mem_cleanup(&l);
}

static const struct launch_kind kind = {
	.terminal = native_terminal,
	.copy_fd = native_copy_fd,
	.lost_fd = native_lost_fd,
	.degraded = native_degraded,
	.needs_memory_watch = native_needs_memory_watch,
	.nudge = native_nudge,
	.kill = native_kill,
	.wait = native_wait,
	.was_oom = native_was_oom,
	.free = native_free,
};

int launch_start(const struct launch_spec *spec, struct launch **ret, struct error *err)
{
	struct native *l = mem_alloc(sizeof(*l));
	auto_launch struct launch *launch = &l->launch;

	l->launch.kind = &kind;
	l->pidfd = l->copy_fd = l->terminal_fd = -1;
	if (start(l, spec, err) < 0)
		return -1;
	*ret = take_ptr(launch);
	return 0;
}
