/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the kernel it runs on, by trying, for what later kernels than the floor brought and
 * Sandglass or its guests use: a line "NAME yes|no|NUMBER" each. Run as root.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* What the headers of Debian 12 do not know yet. */
enum {
	NR_OPEN_TREE = 428,
	NR_PIDFD_OPEN = 434,
	NR_MOUNT_SETATTR = 442,
	NR_LANDLOCK_CREATE_RULESET = 444,
	GET_MDWE = 66,
	NOEXEC_SEAL = 8,
	NO_SUCH = -1,
};

static const struct {
	const char *name;
	int nr;
} calls[] = {
	{"cachestat", 451},
	{"fchmodat2", 452},
	{"futex_wait", 455},
	{"statmount", 457},
	{"lsm_get_self_attr", 459},
	{"mseal", 462},
	{"setxattrat", 463},
};

static void say(const char *name, bool has)
{
	printf("%s %s\n", name, has ? "yes" : "no");
}

/* Arguments that no call accepts: what exists says something else than ENOSYS. */
static bool has_call(int nr)
{
	return syscall(nr, NO_SUCH, NO_SUCH, NO_SUCH, NO_SUCH, NO_SUCH, NO_SUCH) >= 0 ||
	       errno != ENOSYS;
}

static bool pipe_takes_nowait(void)
{
	int ends[2];
	struct iovec iov = {(char[]){"x"}, 1};

	return pipe2(ends, O_CLOEXEC) == 0 && pwritev2(ends[1], &iov, 1, -1, RWF_NOWAIT) == 1;
}

static bool tmpfs_has_user_xattrs(void)
{
	int fd = open("/tmp/probe", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	return fsetxattr(fd, "user.probe", "x", 1, 0) == 0;
}

static bool write_text(pid_t pid, const char *file, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	return write(fd, text, strlen(text)) > 0;
}

/* The user namespace of a child that waits in it. */
static int user_namespace(uid_t as)
{
	char path[64], byte;
	int up[2], fd = -1;
	pid_t pid;

	if (pipe2(up, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		bool made = (!as || setresuid(as, as, as) == 0) && unshare(CLONE_NEWUSER) == 0;
		(void)!write(up[1], made ? "y" : "n", 1);
		pause();
	}
	if (read(up[0], &byte, 1) == 1 && byte == 'y' &&
		(as || (write_text(pid, "uid_map", "0 1000 1") &&
			       write_text(pid, "gid_map", "0 1000 1")))) {
		snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return fd;
}

static bool tmpfs_can_be_idmapped(void)
{
	/* struct mount_attr: set, cleared, propagation, namespace; 0x100000 is MOUNT_ATTR_IDMAP. */
	unsigned long long attr[4] = {0x100000, 0, 0, (unsigned long long)user_namespace(0)};
	int tree = (int)syscall(NR_OPEN_TREE, AT_FDCWD, "/tmp", 1 /* OPEN_TREE_CLONE */);

	return syscall(NR_MOUNT_SETATTR, tree, "", AT_EMPTY_PATH, attr, sizeof(attr)) == 0;
}

/* As launch lays it: a user's overlay, whose upper directory is a tmpfs. */
static bool overlay_by_user_xattrs(void)
{
	mkdir("/tmp/l", 0755);
	mkdir("/tmp/u", 0755);
	mkdir("/tmp/w", 0755);
	mkdir("/tmp/m", 0755);
	if (mount("overlay", "/tmp/m", "overlay", 0,
		    "lowerdir=/tmp/l,upperdir=/tmp/u,workdir=/tmp/w,userxattr") < 0)
		return false;
	/* An opaque directory is what needs the attribute. */
	bool marked = mkdir("/tmp/m/d", 0755) == 0 &&
		      setxattr("/tmp/u/d", "user.overlay.opaque", "y", 1, 0) == 0;
	umount2("/tmp/m", MNT_DETACH);
	return marked;
}

static bool vdso_has(const char *symbol)
{
	const char *image =
		(const char *)getauxval(AT_SYSINFO_EHDR); // NOLINT(performance-no-int-to-ptr)
	const unsigned long section_table = *(const unsigned long *)(const void *)(image + 40);

	return memmem(image, section_table, symbol, strlen(symbol) + 1) != NULL;
}

static bool counter_can_trap(void)
{
	int mode;

	return prctl(PR_GET_TSC, &mode, 0, 0, 0) == 0;
}

static bool cpuid_can_fault(void)
{
#ifdef __x86_64__
	return syscall(SYS_arch_prctl, 0x1012 /* ARCH_SET_CPUID */, 1ul) == 0;
#else
	return false;
#endif
}

static bool cpu_controller(void)
{
	char text[256] = "";
	int fd = open("/sys/fs/cgroup/cgroup.controllers", O_RDONLY | O_CLOEXEC);

	return read(fd, text, sizeof(text) - 1) > 0 && strstr(text, "cpu ") &&
	       strstr(text, "memory") && strstr(text, "pids");
}

int main(void)
{
	printf("landlock %ld\n", syscall(NR_LANDLOCK_CREATE_RULESET, NULL, 0, 1));
	say("counter", counter_can_trap());
	say("cpuid", cpuid_can_fault());
	say("vdso_getrandom", vdso_has("__vdso_getrandom") || vdso_has("__kernel_getrandom"));
	say("pidfd_thread", syscall(NR_PIDFD_OPEN, (int)getpid(), O_EXCL) >= 0);
	say("pipe_nowait", pipe_takes_nowait());
	say("tmpfs_xattrs", tmpfs_has_user_xattrs());
	say("tmpfs_idmap", tmpfs_can_be_idmapped());
	say("overlay_userxattr", overlay_by_user_xattrs());
	say("user_namespaces", user_namespace(61234) >= 0);
	say("controllers", cpu_controller());
	say("memfd_noexec", memfd_create("probe", MFD_CLOEXEC | NOEXEC_SEAL) >= 0);
	say("mdwe", prctl(GET_MDWE, 0, 0, 0, 0) >= 0);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		say(calls[i].name, has_call(calls[i].nr));
	return 0;
}
