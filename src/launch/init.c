/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between clone and exec: see init.h. Neither allocates nor uses stdio streams; whatever is
 * formatted was formatted into the plan.
 */
#include "launch/init.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "launch/caps.h"
#include "launch/landlock.h"
#include "launch/link.h"
#include "launch/mounts.h"
#include "launch/net.h"
#include "launch/tcp.h"
#include "launch/tty.h"
#include "launch/ns.h"
#include "launch/view.h"

/* Descriptors of init at exec; the last one closes by itself. */
enum { FD_CONTROL = 3, FD_SUPERVISOR = 4, FD_LINK = 5, FD_FIRST_UNUSED = 6, FD_PARKED = 64 };

static int wait_for_go(int link, struct error *err)
{
	enum link_kind kind;
	int fd = -1;

	if (link_recv(link, &kind, &fd, err) < 0)
		return -1;
	fd_close(&fd);
	if (kind != LINK_GO)
		return error_set(err, ERR_DIED, "the launcher went away");
	return 0;
}

static int become_guest(const struct plan *p, int link, struct error *err)
{
	const struct contract *c = p->contract;

	/* Rootless, the caller's groups cannot be dropped: they stay, shown as unmapped. */
	if (p->ids.privileged && setgroups(0, NULL) < 0)
		return error_sys(err, "drop the groups");
	if (setresgid(c->gid, c->gid, c->gid) < 0 || setresuid(c->uid, c->uid, c->uid) < 0)
		return error_sys(err, "become uid %u and gid %u", c->uid, c->gid);
	/* Only now: a change of ids clears it. And the launcher may have died before. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return error_sys(err, "ask to die with the launcher");
	if (link_is_closed(link))
		return error_set(err, ERR_DIED, "the launcher went away");
	return 0;
}

static int reset_signals(struct error *err)
{
	const struct sigaction by_default = {.sa_handler = SIG_DFL};
	sigset_t none;

	/* Fails for SIGKILL, SIGSTOP and libc's own two: those have no other disposition. */
	for (int sig = 1; sig < _NSIG; sig++)
		(void)sigaction(sig, &by_default, NULL);
	sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) < 0)
		return error_sys(err, "reset the signals");
	return 0;
}

static int name_host(const struct contract *c, struct error *err)
{
	static const char domain[] = "(none)";

	if (sethostname(c->hostname, strlen(c->hostname)) < 0 ||
		setdomainname(domain, sizeof(domain) - 1) < 0)
		return error_sys(err, "set the hostname");
	return 0;
}

/* A second wall behind the deny filter: nobody inside makes another user namespace. */
static int forbid_user_namespaces(struct error *err)
{
	autoclose int fd = open("/proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "0", 1) != 1)
		return error_sys(err, "forbid user namespaces inside");
	return 0;
}

/* The next process is the first of the guest. A kernel without this leaves it to the supervisor. */
static void set_last_pid(const struct plan *p)
{
	autoclose int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
	ssize_t ignored UNUSED = fd < 0 ? -1 : write(fd, p->last_pid, strlen(p->last_pid));
}

/* A terminal that nobody brought along; *spec is a copy of init's own. */
static int make_terminal(struct launch_spec *spec, int link, struct error *err)
{
	autoclose int master = -1;
	int slave;

	if (!spec->contract->tty || spec->stdio[0] >= 0)
		return 0;
	if (tty_open(spec->contract->columns, spec->contract->rows, &master, &slave, err) < 0 ||
		link_send(link, LINK_TTY, master, NULL, err) < 0)
		return -1;
	/* Once for all three; what is above the standard streams is closed before the exec. */
	spec->stdio[0] = spec->stdio[1] = spec->stdio[2] = slave;
	return 0;
}

/* Where the kernel keeps the message queues of mq_open(3), a file system that no path leads to
 * here: -1 where it has none. */
static int open_queues(void)
{
	struct error none;
	int fd;

	return mounts_new("mqueue", MOUNTS_DEVICE, NULL, 0, &fd, &none) < 0 ? -1 : fd;
}

static int confine_writes(
	const struct plan *p, const struct launch_spec *spec, int queues, struct error *err)
{
	static const char *const writable[] = {"/tmp", "/dev", "/proc"};
	autoclose int ruleset = -1;

	if (landlock_new(&ruleset, err) < 0 || landlock_allow_tree(ruleset, queues, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(writable); i++)
		if (landlock_allow(ruleset, writable[i], err) < 0)
			return -1;
	for (size_t i = 0; i < p->place_count; i++)
		if (p->places[i].kind != PLAN_READ_ONLY &&
			landlock_allow(ruleset, p->places[i].dest, err) < 0)
			return -1;
	for (int i = 0; i < 3; i++)
		if (landlock_allow_file(ruleset, spec->stdio[i], err) < 0)
			return -1;
	return landlock_enforce(ruleset, err);
}

/* *link moves with the others. */
static int arrange_descriptors(const struct launch_spec *spec, int *link, struct error *err)
{
	const int from[] = {spec->stdio[0], spec->stdio[1], spec->stdio[2], spec->control,
		spec->supervisor, *link};
	int parked[ARRAY_LEN(from)];

	/* Out of each other's way first. */
	for (size_t i = 0; i < ARRAY_LEN(from); i++) {
		parked[i] = fcntl(from[i], F_DUPFD_CLOEXEC, FD_PARKED);
		/* What it says of a place beyond RLIMIT_NOFILE. */
		if (parked[i] < 0 && errno == EINVAL)
			errno = EMFILE;
		if (parked[i] < 0)
			return error_sys(err, "arrange the descriptors");
	}
	for (size_t i = 0; i < ARRAY_LEN(from); i++)
		if (dup3(parked[i], (int)i, i <= FD_CONTROL ? 0 : O_CLOEXEC) < 0)
			return error_sys(err, "arrange the descriptors");
	*link = FD_LINK;
	if (close_range(FD_FIRST_UNUSED, ~0u, 0) < 0)
		return error_sys(err, "close the other descriptors");
	return 0;
}

static int prepare(const struct plan *p, int *link, struct error *err)
{
	struct launch_spec spec = *p->spec;
	autoclose int queues = -1;

	if (wait_for_go(*link, err) < 0 || cgroup_join(p->cgroup, err) < 0 ||
		ns_unshare_cgroup(err) < 0 || become_guest(p, *link, err) < 0)
		return -1;
	umask(0);
	if (setsid() < 0)
		return error_sys(err, "start a session");
	set_last_pid(p);
	if (reset_signals(err) < 0 || name_host(p->contract, err) < 0 || net_loopback_up(err) < 0 ||
		(p->contract->deterministic && tcp_steady(err) < 0) ||
		(contract_has_outside(p->contract) && tcp_everywhere(err) < 0) ||
		forbid_user_namespaces(err) < 0 || view_enter(p, *link, err) < 0 ||
		make_terminal(&spec, *link, err) < 0)
		return -1;
	queues = open_queues();
	if (caps_drop(err) < 0 || confine_writes(p, &spec, queues, err) < 0)
		return -1;
	umask(p->contract->umask_bits);
	return arrange_descriptors(&spec, link, err);
}

void init_main(const struct plan *p, int link)
{
	static char name[] = "sandglass-supervise", mode[] = "--init";
	char *argv[] = {name, mode, NULL}, *env[] = {NULL};
	struct error err = {0};

	if (prepare(p, &link, &err) == 0) {
		syscall(SYS_execveat, FD_SUPERVISOR, "", argv, env, AT_EMPTY_PATH);
		error_sys(&err, "execute the supervisor");
	}
	(void)!link_send(link, LINK_ERROR, -1, &err, NULL);
	_exit(125);
}
