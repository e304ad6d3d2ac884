/* SPDX-License-Identifier: Apache-2.0 */
/* Host ids behind the guest's: see idmap.h. */
#include "launch/idmap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "launch/mounts.h"
#include "launch/ns.h"

/* Outside /etc/passwd and every range that /etc/subuid hands out. */
enum { GUEST_HOST_ID = 2000001000 };

static bool has_capabilities(void)
{
	static const unsigned needed[] = {CAP_SETUID, CAP_SETGID, CAP_SYS_ADMIN};
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(needed); i++)
		if (!(data[needed[i] / 32].effective & (1u << (needed[i] % 32))))
			return false;
	return true;
}

/* True when the id exists in our own user namespace. */
static bool is_mapped(const char *map_path, unsigned long id)
{
	FILE *f = fopen(map_path, "re");
	unsigned long inside, outside, count;
	bool found = false;

	while (f && fscanf(f, "%lu %lu %lu", &inside, &outside, &count) == 3)
		found = found || (id >= inside && id - inside < count);
	if (f)
		fclose(f);
	return found;
}

struct idmap idmap_choose(void)
{
	struct idmap m = {.uid = geteuid(), .gid = getegid()};

	if (m.uid == 0 && has_capabilities() && is_mapped("/proc/self/uid_map", GUEST_HOST_ID) &&
		is_mapped("/proc/self/gid_map", GUEST_HOST_ID))
		m = (struct idmap){.privileged = true, .uid = GUEST_HOST_ID, .gid = GUEST_HOST_ID};
	return m;
}

static int write_proc(pid_t pid, const char *name, const char *text, struct error *err)
{
	char path[64];
	autoclose int fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, "open %s", path);
	if (write(fd, text, strlen(text)) < 0)
		return error_sys(err, "write the %s of the sandbox", name);
	return 0;
}

static int write_maps(
	pid_t pid, uid_t in_uid, uid_t out_uid, gid_t in_gid, gid_t out_gid, struct error *err)
{
	char text[64];

	snprintf(text, sizeof(text), "%u %u 1", in_uid, out_uid);
	if (write_proc(pid, "uid_map", text, err) < 0)
		return -1;
	snprintf(text, sizeof(text), "%u %u 1", in_gid, out_gid);
	return write_proc(pid, "gid_map", text, err);
}

int idmap_write_ids(const struct idmap *m, pid_t pid, uid_t in_uid, gid_t in_gid, struct error *err)
{
	/* user_namespaces(7): an unprivileged gid map is taken only when setgroups is denied. */
	if (!m->privileged && write_proc(pid, "setgroups", "deny", err) < 0)
		return -1;
	return write_maps(pid, in_uid, m->uid, in_gid, m->gid, err);
}

int idmap_write(const struct idmap *m, pid_t pid, const struct contract *c, struct error *err)
{
	return idmap_write_ids(m, pid, c->uid, c->gid, err);
}

/* A user namespace in which these ids are those of m; lives as long as the descriptor. */
static int open_mapping(const struct idmap *m, uid_t uid, gid_t gid, int *ret_fd, struct error *err)
{
	char path[64];
	int pidfd = -1, fd = -1, result;
	pid_t pid = ns_clone_holder(&pidfd, err);

	if (pid < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	result = write_maps(pid, uid, m->uid, gid, m->gid, err);
	if (result == 0 && (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		result = error_sys(err, "open %s", path);
	ns_kill_and_reap(pidfd);
	fd_close(&pidfd);
	if (result == 0)
		*ret_fd = fd;
	return result;
}

int idmap_tree(
	const struct idmap *m, const char *path, int *ret_tree, bool *ret_mapped, struct error *err)
{
	autoclose int tree = -1, mapping = -1;
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP};
	struct stat owner;

	if (mounts_clone(AT_FDCWD, path, &tree, err) < 0)
		return -1;
	if (fstat(tree, &owner) < 0)
		return error_sys(err, "stat '%s'", path);
	if (open_mapping(m, owner.st_uid, owner.st_gid, &mapping, err) < 0)
		return -1;
	attr.userns_fd = (uint64_t)mapping;
	/* A mount beneath that cannot be mapped (proc, say) must not undo the one asked for. */
	*ret_mapped =
		mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) == 0 ||
		mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)) == 0;
	*ret_tree = take_fd(tree);
	return 0;
}

int idmap_image(const struct idmap *m, const char *path, const struct contract *c, int *ret_tree,
	struct error *err)
{
	autoclose int tree = -1, mapping = -1;
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP};

	if (mounts_clone(AT_FDCWD, path, &tree, err) < 0 ||
		open_mapping(m, c->uid, c->gid, &mapping, err) < 0)
		return -1;
	attr.userns_fd = (uint64_t)mapping;
	/* Where it cannot be, its files are somebody else's. */
	(void)mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof(attr));
	*ret_tree = take_fd(tree);
	return 0;
}
