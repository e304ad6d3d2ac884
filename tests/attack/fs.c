/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks on the file system: to see the host's files, to change them, to leave traps in them. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static enum verdict secret_at(const char *const *paths)
{
	for (; *paths; paths++)
		if (file_holds(*paths, canary.mark) == 1)
			return escaped("the secret is at %.200s", *paths);
	return contained("no way to the secret: %s", strerror(errno));
}

enum verdict fs_host_read(void)
{
	const char *const paths[] = {canary.secret, NULL};

	return secret_at(paths);
}

enum verdict fs_home_dirs(void)
{
	static const char *const paths[] = {"/root", "/home", "/srv", "/var/lib/dpkg/status",
		"/etc/shadow", "/etc/ssh", "/run/lock", "/var/log", "/boot", "/var/run/docker.sock",
		NULL};

	return refused_open(paths, O_RDONLY);
}

enum verdict fs_dotdot(void)
{
	char up[4096] = "", path[8192];
	const char *const paths[] = {path, NULL};

	for (int i = 0; i < 300; i++)
		strncat(up, "../", sizeof(up) - strlen(up) - 1);
	snprintf(path, sizeof(path), "%s%s", up, canary.secret + 1);
	return secret_at(paths);
}

enum verdict fs_proc_cwd_link(void)
{
	static const char *const roots[] = {
		"/proc/self/root", "/proc/self/cwd/../../../../../../..", "/proc/thread-self/root"};
	char target[4096];
	const char *const paths[] = {"sandglass-link", NULL};

	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++) {
		snprintf(target, sizeof(target), "%s%s", roots[i], canary.secret);
		unlink("sandglass-link");
		if (symlink(target, "sandglass-link"))
			return contained("no symlink: %s", strerror(errno));
		enum verdict verdict = secret_at(paths);

		unlink("sandglass-link");
		if (verdict != CONTAINED)
			return verdict;
	}
	return contained("/proc/self/root is the sandbox's: %s", strerror(errno));
}

/* The harness lays the secret right beside the shared directory. */
enum verdict fs_bind_dotdot(void)
{
	char path[4096];
	const char *const paths[] = {path, NULL};
	const char *slash = strrchr(canary.secret, '/');

	snprintf(path, sizeof(path), "%s/..%s", canary.bind, slash ? slash : "");
	return secret_at(paths);
}

/* The harness lays a file that everybody may write into a directory that is shown read-only. */
enum verdict fs_bind_ro_write(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/writable", canary.bind);
	if (access(path, F_OK))
		return escaped("the directory is not shown: %s", strerror(errno));
	if (open(path, O_WRONLY | O_CLOEXEC) >= 0)
		return escaped("the file could be opened for writing");
	if (chmod(path, 0600) == 0 || truncate(path, 0) == 0 || unlink(path) == 0 ||
		utimensat(AT_FDCWD, path, NULL, 0) == 0)
		return escaped("the file could be changed");
	snprintf(path, sizeof(path), "%s/new", canary.bind);
	if (open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0 || mkdir(path, 0700) == 0)
		return escaped("something could be made there");
	if (mount(NULL, canary.bind, NULL, MS_REMOUNT | MS_BIND, NULL) == 0)
		return escaped("it could be mounted anew");
	return contained("nothing could be changed: %s", strerror(errno));
}

enum verdict fs_handle(void)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u = {.handle = {.handle_bytes = 8, .handle_type = 1}};
	/* Inode 2 of ext4 is its root directory, whatever is mounted over it. */
	const unsigned inode = 2;
	int mount = open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	memcpy(u.handle.f_handle, &inode, sizeof(inode));
	int fd = open_by_handle_at(mount, &u.handle, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ESTALE)
		return escaped("open_by_handle_at is allowed");
	return refused("open_by_handle_at", fd);
}

static enum verdict try_chroot(void)
{
	mkdir("sandglass-chroot", 0700);
	return refused("chroot", chroot("sandglass-chroot"));
}

enum verdict fs_chroot(void)
{
	enum verdict verdict = in_child(try_chroot);

	rmdir("sandglass-chroot");
	return verdict;
}

enum verdict fs_root_write(void)
{
	static const char *const files[] = {"/etc/passwd", "/etc/hosts", "/etc/ld.so.cache",
		"/usr/bin/env", "/bin/true", "/usr/lib/os-release", NULL};
	static const char *const news[] = {"/sandglass-plant", "/usr/sandglass-plant",
		"/etc/sandglass-plant", "/usr/local/bin/sandglass-plant", NULL};

	for (const char *const *p = news; *p; p++) {
		int fd = open(*p, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

		if (fd >= 0) {
			unlink(*p);
			return escaped("'%s' could be made", *p);
		}
	}
	return refused_open(files, O_WRONLY);
}

/* The working directory is a private copy: the harness looks whether the host's own one changed. */
enum verdict fs_cwd_write(void)
{
	int fd = open("given", O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0 || write(fd, "changed\n", 8) != 8)
		return escaped("the working directory cannot be written: %s", strerror(errno));
	close(fd);
	fd = open("planted", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	unlink("removed");
	return judged("wrote");
}

enum verdict fs_mount_tmpfs(void)
{
	return refused("mount of a tmpfs over /tmp", mount("none", "/tmp", "tmpfs", 0, NULL));
}

enum verdict fs_new_mount_api(void)
{
	if (syscall(SYS_fsopen, "tmpfs", 0) >= 0)
		return escaped("fsopen works");
	if (syscall(SYS_open_tree, AT_FDCWD, "/", OPEN_TREE_CLONE) >= 0)
		return escaped("open_tree clones a mount");
	struct mount_attr attr = {.attr_clr = MOUNT_ATTR_RDONLY};

	return refused(
		"mount_setattr", syscall(SYS_mount_setattr, -1, "/usr", 0, &attr, sizeof(attr)));
}

enum verdict fs_umount_mask(void)
{
	static const char *const masks[] = {"/proc/kcore", "/proc/keys", "/proc/sys",
		"/proc/sysrq-trigger", "/proc/cpuinfo", "/proc", "/sys", "/dev/urandom", "/dev",
		"/etc", "/usr", "/"};

	for (size_t i = 0; i < sizeof(masks) / sizeof(*masks); i++)
		if (umount2(masks[i], MNT_DETACH) == 0)
			return escaped("'%s' was unmounted", masks[i]);
	return contained("nothing can be unmounted: %s", strerror(errno));
}

enum verdict fs_dev_nodes(void)
{
	static const char *const nodes[] = {"/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg",
		"/dev/vda", "/dev/vda1", "/dev/sda", "/dev/nvme0n1", "/dev/kvm", "/dev/fuse",
		"/dev/loop0", "/dev/loop-control", "/dev/net/tun", "/dev/mapper/control",
		"/dev/vsock", "/dev/console", "/dev/tty0", "/dev/hpet", "/dev/userfaultfd", NULL};

	return refused_open(nodes, O_RDONLY);
}

enum verdict fs_mknod(void)
{
	const struct {
		mode_t mode;
		dev_t dev;
	} nodes[] = {{S_IFCHR, makedev(1, 1)}, {S_IFCHR, makedev(1, 3)}, {S_IFBLK, makedev(254, 0)},
		{S_IFBLK, makedev(8, 0)}};

	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++) {
		if (mknod("sandglass-node", nodes[i].mode | 0600, nodes[i].dev) == 0) {
			unlink("sandglass-node");
			return escaped("a device node could be made");
		}
	}
	return contained("no device node: %s", strerror(errno));
}

/* Each way to make a file with a set-id bit, or to give it one. */
static void plant(const char *dir)
{
	const struct open_how how = {.flags = O_WRONLY | O_CREAT | O_CLOEXEC, .mode = 06755};
	char path[4096];

	snprintf(path, sizeof(path), "%s/planted", dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	if (fd >= 0) {
		if (write(fd, "#!/bin/sh\n", 10) == 10)
			fchmod(fd, 06755);
		chmod(path, 06755);
		syscall(452, AT_FDCWD, path, 06755, 0); /* fchmodat2 */
		close(fd);
	}
	snprintf(path, sizeof(path), "%s/planted.open", dir);
	open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 06755);
	snprintf(path, sizeof(path), "%s/planted.openat2", dir);
	syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	snprintf(path, sizeof(path), "%s/planted.mknod", dir);
	mknod(path, S_IFREG | 06755, 0);
	/* Copies of set-id programs that lie in the view. */
	snprintf(path, sizeof(path), "%s/planted.link", dir);
	if (link("/usr/bin/su", path) == 0)
		chmod(path, 06755);
}

/* A setuid file in what the host gets back would be somebody's shell there. */
enum verdict fs_setuid_plant(void)
{
	plant(".");
	plant(canary.bind);
	return judged("planted");
}
