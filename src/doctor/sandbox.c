/* SPDX-License-Identifier: Apache-2.0 */
/* Tries of what a container is made of: namespaces, /proc, overlays, id-mapped mounts. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "doctor/tries.h"
#include "launch/idmap.h"
#include "launch/mounts.h"
#include "launch/ns.h"

enum { PLAIN_ID = 65534, DEEPEST = 2 };

/* ---- namespaces ---- */

/* As init of new namespaces: whether they give the rights that a container is built with. */
static void use_namespaces(struct doctor_finding *f)
{
	autoclose int tmpfs = -1;
	struct error err;

	if (ns_unshare_cgroup(&err) < 0 ||
		mounts_new("tmpfs", MOUNTS_WRITABLE, NULL, 0, &tmpfs, &err) < 0 ||
		(sethostname("sandglass", 9) < 0 && error_sys(&err, "set the host name") < 0)) {
		ns_explain_refusal(&err);
		finding_set(f, DOCTOR_MISSING, "they give no rights: %.400s", err.msg);
		return;
	}
	finding_set(f, DOCTOR_OK,
		"user, mount, pid, net, uts, ipc and cgroup, with the rights they give");
}

/* Inside, or MISSING with why that could not be. */
static void inside(void (*what)(struct doctor_finding *), struct doctor_finding *f)
{
	struct error err = {0};

	if (child_try_inside(what, f, &err) == 0)
		return;
	finding_set(f, DOCTOR_MISSING, "%.470s", err.msg);
	if (access("/proc/self", F_OK) < 0)
		finding_remedy(f, "mount /proc: without it no ids can be mapped");
}

void try_namespaces(struct doctor_finding *f)
{
	struct idmap ids = idmap_choose();

	inside(use_namespaces, f);
	if (f->level == DOCTOR_OK)
		snprintf(f->detail + strlen(f->detail), sizeof(f->detail) - strlen(f->detail),
			"; %s",
			ids.privileged	 ? "as root, with an id that owns nothing"
			: geteuid() == 0 ? "as a root without privileges, with its own id"
					 : "without privileges, with your own id");
}

void try_rootless(struct doctor_finding *f)
{
	if (geteuid() != 0) {
		try_namespaces(f);
		return;
	}
	if (setgroups(0, NULL) < 0 || setresgid(PLAIN_ID, PLAIN_ID, PLAIN_ID) < 0 ||
		setresuid(PLAIN_ID, PLAIN_ID, PLAIN_ID) < 0) {
		finding_set(f, DOCTOR_UNTRIED, "cannot become another user: %s", strerror(errno));
		return;
	}
	/* A change of ids takes the right to one's own files in /proc away. */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	inside(use_namespaces, f);
	if (f->level == DOCTOR_MISSING)
		f->level = DOCTOR_DEGRADED;
	else
		snprintf(f->detail + strlen(f->detail), sizeof(f->detail) - strlen(f->detail),
			"; as user %d", PLAIN_ID);
}

/* ---- what limits them ---- */

/* `bad` is the value that stands in the way. */
static const struct {
	const char *path;
	long bad;
	bool all; /* of root too */
} sysctls[] = {
	{"kernel/unprivileged_userns_clone", 0, false},
	{"kernel/apparmor_restrict_unprivileged_userns", 1, false},
	{"user/max_user_namespaces", 0, true},
	{"user/max_mnt_namespaces", 0, true},
	{"user/max_pid_namespaces", 0, true},
	{"user/max_net_namespaces", 0, true},
	{"user/max_uts_namespaces", 0, true},
	{"user/max_ipc_namespaces", 0, true},
	{"user/max_cgroup_namespaces", 0, true},
};

static void add(char *list, size_t size, const char *path, long value)
{
	size_t len = strlen(list);

	snprintf(list + len, size - len, "%s%s = %ld", len ? ", " : "", path, value);
	for (char *p = list + len; *p; p++)
		if (*p == '/')
			*p = '.';
}

void try_limits(struct doctor_finding *f)
{
	char bad[240] = "", good[240] = "";
	bool all = false, any = false;

	for (size_t i = 0; i < ARRAY_LEN(sysctls); i++) {
		char path[96];
		long value;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/sys/%s", sysctls[i].path);
		file = fopen(path, "re");
		if (!file)
			continue; /* this kernel has no such limit */
		if (fscanf(file, "%ld", &value) == 1) {
			any = true;
			if (value == sysctls[i].bad) {
				all = all || sysctls[i].all;
				add(bad, sizeof(bad), sysctls[i].path, value);
			} else if (i < 3) {
				add(good, sizeof(good), sysctls[i].path, value);
			}
		}
		fclose(file);
	}
	if (*bad)
		finding_set(f, all ? DOCTOR_MISSING : DOCTOR_DEGRADED, "%s", bad);
	else if (!any)
		finding_set(f, DOCTOR_UNTRIED, "/proc/sys cannot be read");
	else
		finding_set(f, DOCTOR_OK, "%s", *good ? good : "none");
}

/* ---- file systems ---- */

static void mount_proc(struct doctor_finding *f)
{
	autoclose int tree = -1;
	struct error err;

	if (mounts_new("proc", MOUNTS_WRITABLE, NULL, 0, &tree, &err) < 0)
		finding_set(f, DOCTOR_MISSING, "%.400s", err.msg);
	else
		finding_set(f, DOCTOR_OK, "mounted anew");
}

void try_proc(struct doctor_finding *f)
{
	inside(mount_proc, f);
}

/* An overlay in `scratch` with its written layer on a tmpfs, over the tree, which is attached. */
static int lay_over(int scratch, int lower, unsigned depth, int *ret_tree, struct error *err)
{
	char low[16], up[16], upper[32], work[32];
	const struct mounts_option options[] = {
		{"lowerdir", low}, {"upperdir", upper}, {"workdir", work}, {"userxattr", NULL}};
	autoclose int tmpfs = -1, written = -1;

	snprintf(low, sizeof(low), "low%u", depth);
	snprintf(up, sizeof(up), "up%u", depth);
	snprintf(upper, sizeof(upper), "%s/upper", up);
	snprintf(work, sizeof(work), "%s/work", up);
	if (mounts_new("tmpfs", MOUNTS_WRITABLE, NULL, 0, &tmpfs, err) < 0)
		return -1;
	if (mkdirat(scratch, low, 0755) < 0 || mkdirat(scratch, up, 0755) < 0 ||
		mkdirat(tmpfs, "upper", 0755) < 0 || mkdirat(tmpfs, "work", 0755) < 0)
		return error_sys(err, "make the layers");
	written = openat(tmpfs, "upper", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fsetxattr(written, "user.sandglass", "", 0, 0) < 0)
		return error_sys(err, "no user xattrs on tmpfs");
	if (mounts_attach(lower, scratch, low, err) < 0 ||
		mounts_attach(tmpfs, scratch, up, err) < 0 || fchdir(scratch) < 0)
		return -1;
	return mounts_new("overlay", MOUNTS_WRITABLE, options, ARRAY_LEN(options), ret_tree, err);
}

static void stack_overlays(struct doctor_finding *f)
{
	autoclose int scratch = -1, lower = -1, here = -1, over = -1;
	unsigned depth = 0;
	struct error err = {0};

	if (mounts_clone(AT_FDCWD, ".", &here, &err) < 0 ||
		mounts_new("tmpfs", MOUNTS_WRITABLE, NULL, 0, &scratch, &err) < 0 ||
		mounts_attach(scratch, AT_FDCWD, "/tmp", &err) < 0 ||
		mounts_new("tmpfs", MOUNTS_WRITABLE, NULL, 0, &lower, &err) < 0) {
		finding_set(f, DOCTOR_DEGRADED, "%.400s", err.msg);
		return;
	}
	while (depth < DEEPEST) {
		int tree = -1;

		if (lay_over(scratch, lower, depth, &tree, &err) < 0)
			break;
		fd_close(&lower);
		lower = tree;
		depth++;
	}
	if (depth == 0) {
		finding_set(f, DOCTOR_DEGRADED, "%.400s", err.msg);
		return;
	}
	if (lay_over(scratch, here, DEEPEST, &over, &err) < 0)
		finding_set(f, DOCTOR_DEGRADED, "%u deep, but not over this directory: %.300s",
			depth, err.msg);
	else
		finding_set(
			f, DOCTOR_OK, "with user xattrs, %u deep, and over this directory", depth);
}

void try_overlay(struct doctor_finding *f)
{
	struct error err = {0};

	if (child_try_inside(stack_overlays, f, &err) < 0)
		finding_set(f, DOCTOR_UNTRIED, "there are no namespaces to try it in");
}

void try_idmap(struct doctor_finding *f)
{
	struct idmap ids = idmap_choose();
	autoclose int tree = -1;
	bool mapped = false;
	struct error err;

	if (!ids.privileged)
		finding_set(f, DOCTOR_UNTRIED, "only runs of root need them");
	else if (idmap_tree(&ids, ".", &tree, &mapped, &err) < 0)
		finding_set(f, DOCTOR_DEGRADED, "%.400s", err.msg);
	else
		finding_set(f, mapped ? DOCTOR_OK : DOCTOR_DEGRADED,
			mapped ? "of this directory's file system"
			       : "this directory's file system cannot be id-mapped");
}
