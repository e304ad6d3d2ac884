/* SPDX-License-Identifier: Apache-2.0 */
/* Tries of the kernel's calls, its control groups and Landlock. */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/fd.h"
#include "doctor/tries.h"
#include "launch/cgroup.h"
#include "launch/landlock.h"
#include "wire/contract.h"

/* Calls without which no sandbox is made. Arguments that make each fail before it does anything. */
static const struct {
	const char *name;
	long nr, arg[4];
	bool privileged; /* EPERM is what the kernel itself says outside a sandbox */
} calls[] = {
	{"clone3", SYS_clone3, {0, 0}},
	{"pidfd_open", SYS_pidfd_open, {-1, 0}},
	{"pidfd_send_signal", SYS_pidfd_send_signal, {-1, 0}},
	{"pidfd_getfd", SYS_pidfd_getfd, {-1, -1, 0}},
	{"openat2", SYS_openat2, {-1, 0, 0, 0}},
	{"close_range", SYS_close_range, {9, 8, 0}},
	{"memfd_create", SYS_memfd_create, {0, -1}},
	{"execveat", SYS_execveat, {-1, 0, 0, 0}},
	{"open_tree", SYS_open_tree, {-1, 0, -1}},
	{"fsopen", SYS_fsopen, {0, -1}, true},
	{"fsconfig", SYS_fsconfig, {-1, -1, 0, 0}},
	{"fsmount", SYS_fsmount, {-1, -1, -1}, true},
	{"move_mount", SYS_move_mount, {-1, 0, -1, 0}, true},
	{"mount_setattr", SYS_mount_setattr, {-1, 0, -1, 0}},
	{"seccomp", SYS_seccomp, {-1, -1, 0}},
	{"ptrace", SYS_ptrace, {-1, -1, 0, 0}},
	{"process_vm_readv", SYS_process_vm_readv, {-1, 0, 0, 0}},
};

void try_kernel(struct doctor_finding *f)
{
	char missing[256] = "";
	struct utsname u = {0};

	uname(&u);
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		const long *a = calls[i].arg;

		if (syscall(calls[i].nr, a[0], a[1], a[2], a[3]) < 0 &&
			(errno == ENOSYS ||
				(!calls[i].privileged && (errno == EPERM || errno == EACCES))))
			snprintf(missing + strlen(missing), sizeof(missing) - strlen(missing),
				" %s (%s)", calls[i].name,
				errno == ENOSYS ? "not there" : "refused");
	}
#if !defined(__x86_64__) && !defined(__aarch64__)
	finding_set(f, DOCTOR_MISSING, "%s %s: no supervisor for this architecture", u.release,
		u.machine);
	return;
#endif
	if (*missing)
		finding_set(f, DOCTOR_MISSING, "Linux %s, %s, without:%s", u.release, u.machine,
			missing);
	else
		finding_set(f, DOCTOR_OK, "Linux %s, %s, with the calls that a sandbox is made of",
			u.release, u.machine);
}

/* "version 2", or 1 when a controller has a hierarchy of its own. */
static const char *cgroup_version(void)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	bool unified = false, own = false;
	char line[4096];

	while (f && fgets(line, sizeof(line), f)) {
		bool v2 = strncmp(line, "0::", 3) == 0;

		unified = unified || v2;
		own = own || (!v2 && !strstr(line, ":name="));
	}
	if (f)
		fclose(f);
	return own ? "version 1" : unified ? "version 2" : "unknown version";
}

void try_cgroup(struct doctor_finding *f)
{
	static const char *const names[CGROUP_LIMITS] = {"memory", "pids", "cpu"};
	auto_contract struct contract c = {0};
	char has[64] = "", lacks[64] = "";
	struct cgroup *g;

	contract_init(&c);
	g = cgroup_new(&c);
	for (int i = 0; i < CGROUP_LIMITS; i++) {
		char *list = cgroup_has(g, (enum cgroup_limit)i) ? has : lacks;

		snprintf(list + strlen(list), 64 - strlen(list), " %s", names[i]);
	}
	if (!*has)
		finding_set(f, DOCTOR_DEGRADED, "%s; no group can be made, so no limit on:%s",
			cgroup_version(), lacks);
	else
		finding_set(f, *lacks ? DOCTOR_DEGRADED : DOCTOR_OK, "%s, writable; limits:%s%s%s",
			cgroup_version(), has, *lacks ? "; not:" : "", lacks);
	cgroup_free(g);
}

void try_landlock(struct doctor_finding *f)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	autoclose int rules = -1, fd = -1;
	struct error err = {0};

	if (!landlock_is_there()) {
		finding_set(f, DOCTOR_DEGRADED, abi < 0 ? "not there: %s" : "too old: %s",
			abi < 0 ? strerror(errno) : "ABI 1 refuses every rename");
		return;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || landlock_new(&rules, &err) < 0 ||
		landlock_enforce(rules, &err) < 0) {
		finding_set(
			f, DOCTOR_MISSING, "ABI %ld, but it cannot be enforced: %s", abi, err.msg);
		finding_remedy(f, "allow the landlock_ calls, or let them fail with ENOSYS, in the "
				  "container's seccomp profile");
		return;
	}
	fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || errno != EACCES)
		finding_set(
			f, DOCTOR_DEGRADED, "ABI %ld, enforced, but /tmp is still writable", abi);
	else
		finding_set(f, DOCTOR_OK, "ABI %ld%s%s", abi,
			abi < 3 ? "; truncating is not kept (ABI 3, Linux 6.2)" : "",
			abi < 6 ? "; signals and abstract sockets are not (ABI 6, Linux 6.12)"
				: "");
}
