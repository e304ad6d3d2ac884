/* SPDX-License-Identifier: Apache-2.0 */
/* New processes in new namespaces: see ns.h. */
#include "launch/ns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

/* First number in the file, or -1 when there is none to read. */
static long read_number(const char *path)
{
	FILE *f = fopen(path, "re");
	long n = -1;

	if (f && fscanf(f, "%ld", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

/* Why clone3 refused namespaces, with the sysctl to change where one is found. */
static int explain(struct error *err)
{
	static const char *const kinds[] = {"user", "mnt", "pid", "net", "uts", "ipc"};
	int sys = errno;
	char path[64];

	for (size_t i = 0; sys == ENOSPC && i < ARRAY_LEN(kinds); i++) {
		snprintf(path, sizeof(path), "/proc/sys/user/max_%s_namespaces", kinds[i]);
		if (read_number(path) == 0)
			return error_set(err, ERR_UNSUPPORTED,
				"this host allows no %s namespaces: sysctl user.max_%s_namespaces "
				"is 0; "
				"set it to 10000 or so",
				kinds[i], kinds[i]);
	}
	if (sys == ENOSPC)
		return error_set(err, ERR_LIMIT,
			"too many namespaces on this host: raise sysctl user.max_user_namespaces "
			"and "
			"the other user.max_*_namespaces");
	if (sys == EPERM && read_number("/proc/sys/kernel/unprivileged_userns_clone") == 0)
		return error_set(err, ERR_UNSUPPORTED,
			"only root may make user namespaces here: set sysctl "
			"kernel.unprivileged_userns_clone=1, or run as root");
	/* ENOSYS is what container runtimes say of clone3. */
	if (sys == EPERM || sys == ENOSYS)
		return error_set(err, ERR_UNSUPPORTED,
			"the kernel refuses user namespaces (a seccomp profile or security module "
			"of a "
			"container? user.max_user_namespaces?); run as root or outside it");
	errno = sys;
	if (sys == EAGAIN)
		return error_sys(err, "no process can be made (a pids limit?)");
	return error_sys(err, "make the namespaces of the sandbox");
}

pid_t ns_clone_init(int cgroup_fd, int *ret_pidfd, struct error *err)
{
	int pidfd = -1;
	struct clone_args args = {
		/* Not CLONE_NEWCGROUP: its root is to be the sandbox's own group, which init joins
		   later. */
		.flags = CLONE_PIDFD | CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
			 CLONE_NEWUTS | CLONE_NEWIPC,
		.pidfd = (uint64_t)(uintptr_t)&pidfd,
		.exit_signal = 0,
	};
	pid_t pid;

	if (cgroup_fd >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)cgroup_fd;
	}
	pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid < 0)
		return explain(err);
	if (pid > 0)
		*ret_pidfd = pidfd;
	return pid;
}

/* Touches no memory but its own stack; returns only where its maker, whose number it got, is dead.
 */
static int hold(void *maker)
{
	syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (syscall(SYS_getppid) != *(const pid_t *)maker)
		return 0;
	while (pause() < 0)
		continue;
	return 0;
}

pid_t ns_clone_holder(int *ret_pidfd, struct error *err)
{
	static _Alignas(16) char stack[16384];
	static pid_t maker;
	int pidfd = -1;
	pid_t pid;

	maker = getpid();
	pid = clone(hold, stack + sizeof(stack), CLONE_VM | CLONE_NEWUSER | CLONE_PIDFD, &maker,
		&pidfd);

	if (pid < 0)
		return explain(err);
	*ret_pidfd = pidfd;
	return pid;
}

void ns_explain_refusal(struct error *err)
{
	static const char sysctl[] = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

	if (err->sys == EPERM && read_number(sysctl) == 1)
		error_wrap(err,
			"AppArmor takes the rights away that a user namespace gives; set sysctl "
			"kernel.apparmor_restrict_unprivileged_userns=0, or run as root");
}

int ns_unshare_cgroup(struct error *err)
{
	if (unshare(CLONE_NEWCGROUP) < 0)
		return error_sys(err, "make a cgroup namespace");
	return 0;
}

void ns_kill_and_reap(int pidfd)
{
	siginfo_t info;

	syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | __WALL) < 0 && errno == EINTR)
		continue;
}
