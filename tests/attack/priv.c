/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks for privilege: other ids, capabilities, namespaces of one's own. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
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

enum verdict priv_no_new_privs(void)
{
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return escaped("no_new_privs is not set");
	return contained("no_new_privs is set");
}

static enum verdict try_setuid0(void)
{
	if (geteuid() != 0 && setresuid(0, 0, 0) == 0)
		return escaped("became uid 0");
	if (getegid() != 0 && setresgid(0, 0, 0) == 0)
		return escaped("became gid 0");
	if (geteuid() == 0)
		return escaped("is uid 0");
	return refused("setgroups", setgroups(0, NULL));
}

enum verdict priv_setuid0(void)
{
	return in_child(try_setuid0);
}

enum verdict priv_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0, 0, 0}, {0, 0, 0}};

	if (syscall(SYS_capget, &head, data) != 0)
		return escaped("capget: %s", strerror(errno));
	if (data[0].effective | data[0].permitted | data[1].effective | data[1].permitted)
		return escaped("has capabilities %#x", data[0].permitted);
	if (data[0].inheritable | data[1].inheritable)
		return escaped("has inheritable capabilities");
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1)
			return escaped("capability %d is in the bounding set", cap);
	return contained("no capability in any set");
}

static enum verdict try_unshare_user(void)
{
	return refused("unshare(CLONE_NEWUSER)", unshare(CLONE_NEWUSER));
}

enum verdict priv_userns(void)
{
	struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
	enum verdict verdict = in_child(try_unshare_user);

	if (verdict != CONTAINED)
		return verdict;
	for (int i = 0; i < 2; i++) {
		long pid = i ? syscall(SYS_clone3, &args, sizeof(args))
			     : syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

		if (pid == 0)
			_exit(0);
		if (pid > 0) {
			waitpid((pid_t)pid, NULL, 0);
			return escaped("%s made a user namespace", i ? "clone3" : "clone");
		}
	}
	return contained("no user namespace: %s", strerror(errno));
}

static enum verdict try_unshare(void)
{
	static const struct {
		const char *name;
		int flag;
	} kinds[] = {{"mount", CLONE_NEWNS}, {"net", CLONE_NEWNET}, {"ipc", CLONE_NEWIPC},
		{"uts", CLONE_NEWUTS}, {"pid", CLONE_NEWPID}, {"cgroup", CLONE_NEWCGROUP},
		{"time", CLONE_NEWTIME}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (unshare(kinds[i].flag) == 0)
			return escaped("unshare gave a %s namespace", kinds[i].name);
	return contained("no namespace: %s", strerror(errno));
}

enum verdict priv_other_ns(void)
{
	return in_child(try_unshare);
}

enum verdict priv_pidfd_getfd(void)
{
	int init = (int)syscall(SYS_pidfd_open, 1, 0);

	if (init < 0)
		return contained("pidfd_open: %s", strerror(errno));
	for (int fd = 0; fd < 32; fd++)
		if (syscall(SYS_pidfd_getfd, init, fd, 0) >= 0)
			return escaped("init's descriptor %d was taken", fd);
	return contained("pidfd_getfd: %s", strerror(errno));
}
