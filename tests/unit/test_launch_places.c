/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of the host a guest is shown, and what becomes of its writes: the private copy, binds, a
 * given root file system; and that what cannot be shown or made is one clear error.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "launch_box.h"

static bool has(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

static void make_dir(const char *path)
{
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		box_fail(__FILE__, __LINE__, path);
}

/* A directory with a file, a directory with a file, and one to be deleted. */
static void make_project(void)
{
	make_dir(box_path("p"));
	make_dir(box_path("p/sub"));
	box_file("kept", "p/kept");
	box_file("gone", "p/gone");
	box_file("old", "p/sub/file");
}

/* User xattrs on tmpfs, which the overlay needs to mark a directory: Linux 6.6. */
static bool kernel_can_overlay(void)
{
	struct utsname u;
	int major, minor;

	return uname(&u) == 0 && sscanf(u.release, "%d.%d", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 6));
}

static void copy_takes_writes_and_the_host_s_directory_keeps_its_state(void)
{
	struct box b;
	struct stat st;
	bool overlay;
	int fd;

	make_project();
	CHECK(chmod(box_path("p"), 0750) == 0);
	box_init(&b);
	b.contract.copy_dir = mem_strdup(box_path("p"));
	b.contract.copy_bytes = 4 << 20;
	b.contract.copy_inodes = 1000;
	box_start(&b);
	CHECK_TEXT(box_ask(&b, "ls %s", box_path("p")), "ok gone kept sub");
	CHECK_TEXT(box_ask(&b, "statfs %s", box_path("p")), "ok bytes 4194304 inodes 1000");
	CHECK(has(box_ask(&b, "stat %s", box_path("p/kept")), "uid 1000 gid 1000"));
	CHECK(has(box_ask(&b, "stat %s", box_path("p")), "mode 40750 uid 1000 gid 1000"));
	CHECK_TEXT(box_ask(&b, "write %s new", box_path("p/new")), "ok");
	CHECK_TEXT(box_ask(&b, "write %s changed", box_path("p/sub/file")), "ok");
	CHECK_TEXT(box_ask(&b, "unlink %s", box_path("p/gone")), "ok");
	CHECK_TEXT(box_ask(&b, "mkdir %s", box_path("p/dir")), "ok");
	CHECK_TEXT(box_ask(&b, "rename %s %s", box_path("p/new"), box_path("p/dir/new")), "ok");
	CHECK_TEXT(box_ask(&b, "chmod %s 600", box_path("p/kept")), "ok");
	CHECK_TEXT(box_ask(&b, "cat %s", box_path("p/sub/file")), "ok changed");
	box_wait(&b);

	/* Init is dead; what it wrote is still to be had. */
	fd = launch_copy_fd(b.launch, &overlay);
	CHECK(fd >= 0 && (overlay || !kernel_can_overlay()));
	CHECK_TEXT(box_read(fd, "dir/new"), "new");
	CHECK_TEXT(box_read(fd, "sub/file"), "changed");
	if (overlay)
		CHECK(fstatat(fd, "gone", &st, 0) == 0 && S_ISCHR(st.st_mode) &&
			st.st_rdev == makedev(0, 0));
	else
		CHECK(fstatat(fd, "gone", &st, 0) < 0 && errno == ENOENT);
	CHECK(fstatat(fd, "kept", &st, 0) == 0 && (st.st_mode & 0777) == 0600);
	box_finish(&b);

	CHECK_TEXT(box_read(AT_FDCWD, box_path("p/sub/file")), "old");
	CHECK_TEXT(box_read(AT_FDCWD, box_path("p/gone")), "gone");
	CHECK(access(box_path("p/new"), F_OK) < 0 && access(box_path("p/dir"), F_OK) < 0);
	CHECK(stat(box_path("p/kept"), &st) == 0 && (st.st_mode & 0777) == 0644);
}

static void copy_of_a_removed_and_remade_directory_is_empty(void)
{
	struct box b;

	/* Needs a mark on the new directory: user xattrs on tmpfs. */
	make_project();
	box_init(&b);
	b.contract.copy_dir = mem_strdup(box_path("p"));
	box_start(&b);
	CHECK_TEXT(box_ask(&b, "unlink %s", box_path("p/sub/file")), "ok");
	CHECK_TEXT(box_ask(&b, "rmdir %s", box_path("p/sub")), "ok");
	CHECK_TEXT(box_ask(&b, "mkdir %s", box_path("p/sub")), "ok");
	CHECK_TEXT(box_ask(&b, "ls %s", box_path("p/sub")), "ok");
	box_finish(&b);
}

static void copy_of_a_path_with_odd_characters_works(void)
{
	struct box b;

	make_dir(box_path("a:b,c\\d"));
	box_file("x", "a:b,c\\d/f");
	box_init(&b);
	b.contract.copy_dir = mem_strdup(box_path("a:b,c\\d"));
	box_start(&b);
	CHECK_TEXT(box_ask(&b, "cat %s", box_path("a:b,c\\d/f")), "ok x");
	CHECK_TEXT(box_ask(&b, "write %s y", box_path("a:b,c\\d/g")), "ok");
	box_finish(&b);
}

/* An overlay may stand on two others at most; what is deeper must be copied. */
static void a_directory_that_no_overlay_can_lie_on_is_copied(void)
{
	struct box b;
	bool overlay;
	int fd;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		box_fail(__FILE__, __LINE__, strerror(errno));
	make_project();
	CHECK(symlink("kept", box_path("p/link")) == 0 && mkfifo(box_path("p/fifo"), 0600) == 0);
	make_dir(box_path("e"));
	for (int i = 0; i < 2; i++) {
		char options[1200];

		snprintf(options, sizeof(options), "lowerdir=%s:%s", box_path("p"), box_path("e"));
		CHECK(mount("none", box_path("p"), "overlay", 0, options) == 0);
	}
	box_init(&b);
	b.contract.copy_dir = mem_strdup(box_path("p"));
	box_start(&b);
	CHECK_TEXT(box_ask(&b, "ls %s", box_path("p")), "ok gone kept link sub");
	CHECK_TEXT(box_ask(&b, "readlink %s", box_path("p/link")), "ok kept");
	CHECK_TEXT(box_ask(&b, "unlink %s", box_path("p/gone")), "ok");
	CHECK_TEXT(box_ask(&b, "write %s changed", box_path("p/sub/file")), "ok");
	CHECK_TEXT(box_ask(&b, "write %s new", box_path("p/new")), "ok");
	CHECK(has(box_ask(&b, "stat %s", box_path("p/kept")), "mode 100644 uid 1000 gid 1000"));
	box_wait(&b);
	fd = launch_copy_fd(b.launch, &overlay);
	CHECK(fd >= 0 && !overlay);
	CHECK_TEXT(box_read(fd, "kept"), "kept");
	CHECK_TEXT(box_read(fd, "new"), "new");
	box_finish(&b);
	CHECK_TEXT(box_read(AT_FDCWD, box_path("p/sub/file")), "old");

	/* And no more than fits. */
	box_init(&b);
	b.contract.copy_dir = mem_strdup(box_path("p"));
	b.contract.copy_inodes = 4;
	struct error err = {0};
	CHECK(box_try(&b, &err) < 0);
	CHECK(err.code == ERR_LIMIT && has(err.msg, box_path("p")));
	box_finish(&b);
}

static void read_only_bind_cannot_be_written(void)
{
	struct box b;

	make_project();
	box_init(&b);
	box_bind(&b, box_path("p"), "/opt/deep/place", false);
	box_bind(&b, box_path("p/kept"), "/opt/deep/file", false);
	box_start(&b);
	CHECK_TEXT(box_ask(&b, "ls /opt/deep"), "ok file place");
	CHECK_TEXT(box_ask(&b, "cat /opt/deep/place/sub/file"), "ok old");
	CHECK_TEXT(box_ask(&b, "cat /opt/deep/file"), "ok kept");
	CHECK_TEXT(box_ask(&b, "write /opt/deep/place/new x"), "errno EROFS");
	CHECK_TEXT(box_ask(&b, "write /opt/deep/file x"), "errno EROFS");
	CHECK_TEXT(box_ask(&b, "unlink /opt/deep/place/kept"), "errno EROFS");
	box_finish(&b);
}

static void mounts_beneath_a_read_only_bind_are_read_only(void)
{
	struct box b;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		box_fail(__FILE__, __LINE__, strerror(errno));
	make_project();
	CHECK(mount("none", box_path("p/sub"), "tmpfs", 0, "mode=1777") == 0);
	box_file("deep", "p/sub/deep");
	box_init(&b);
	box_bind(&b, box_path("p"), "/srv", false);
	box_start(&b);
	CHECK_TEXT(box_ask(&b, "cat /srv/sub/deep"), "ok deep");
	CHECK_TEXT(box_ask(&b, "write /srv/sub/new x"), "errno EROFS");
	box_finish(&b);
}

/* True when the run said this of its limits. */
static bool is_told(const struct box *b, const char *what)
{
	size_t n;
	const struct launch_degraded *d = launch_degraded(b->launch, &n);

	for (size_t i = 0; i < n; i++)
		if (has(d[i].detail, what))
			return true;
	return false;
}

static void writable_bind_writes_to_the_host_as_the_owner(void)
{
	struct box b;
	struct stat st;

	make_project();
	box_init(&b);
	box_bind(&b, box_path("p"), "/shared", true);
	box_start(&b);
	if (is_told(&b, "cannot be id-mapped")) {
		CHECK_TEXT(box_ask(&b, "write /shared/new x"), "errno EACCES");
		box_finish(&b);
		box_skip("this file system cannot be id-mapped");
	}
	CHECK_TEXT(box_ask(&b, "write /shared/new x"), "ok");
	CHECK_TEXT(box_ask(&b, "write /shared/kept y"), "ok");
	CHECK(has(box_ask(&b, "stat /shared/new"), "uid 1000 gid 1000"));
	CHECK_TEXT(box_ask(&b, "chmod /shared/new 4755"), "ok");
	box_finish(&b);
	CHECK_TEXT(box_read(AT_FDCWD, box_path("p/new")), "x");
	CHECK_TEXT(box_read(AT_FDCWD, box_path("p/kept")), "y");
	CHECK(stat(box_path("p/new"), &st) == 0 && st.st_uid == geteuid());
}

static void a_copy_inside_a_bind_is_shown(void)
{
	struct box b;

	make_project();
	box_init(&b);
	b.contract.copy_dir = mem_strdup(box_path("p/sub"));
	box_bind(&b, box_path("p"), box_path("p"), false);
	box_start(&b);
	CHECK_TEXT(box_ask(&b, "write %s x", box_path("p/new")), "errno EROFS");
	CHECK_TEXT(box_ask(&b, "write %s x", box_path("p/sub/new")), "ok");
	CHECK_TEXT(box_ask(&b, "cat %s", box_path("p/kept")), "ok kept");
	box_finish(&b);
}

static void make_rootfs(void)
{
	static const char *const dirs[] = {
		"r", "r/proc", "r/dev", "r/sys", "r/tmp", "r/etc", "r/have"};

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		make_dir(box_path("%s", dirs[i]));
	box_file("theirs", "r/etc/hosts");
	box_file("theirs", "r/etc/other");
}

static void a_given_root_file_system_is_read_only_with_our_own_parts(void)
{
	struct box b;

	make_rootfs();
	make_project();
	box_init(&b);
	b.contract.rootfs = mem_strdup(box_path("r"));
	b.contract.copy_dir = mem_strdup(box_path("p"));
	box_bind(&b, box_path("p"), "/have", false);
	box_bind(&b, box_path("p"), "/not/there", false);
	box_start(&b);
	CHECK_TEXT(box_ask(&b, "ls /"), "ok dev etc have not proc sys tmp");
	CHECK(has(box_ask(&b, "cat /etc/hosts"), "ok 127.0.0.1"));
	CHECK_TEXT(box_ask(&b, "cat /etc/other"), "ok theirs");
	CHECK_TEXT(box_ask(&b, "ls /etc"), "ok hosts other");
	CHECK_TEXT(box_ask(&b, "cat /have/kept"), "ok kept");
	CHECK_TEXT(box_ask(&b, "cat /not/there/kept"), "ok kept");
	CHECK_TEXT(box_ask(&b, "write /new x"), "errno EROFS");
	CHECK_TEXT(box_ask(&b, "write /dev/new x"), "errno EROFS");
	CHECK_TEXT(box_ask(&b, "write /not/new x"), "errno EROFS");
	CHECK_TEXT(box_ask(&b, "cat /proc/cmdline"), "ok ");
	CHECK_TEXT(box_ask(&b, "write %s x", box_path("p/new")), "ok");
	box_finish(&b);
	CHECK(access(box_path("r/not"), F_OK) < 0);
	CHECK_TEXT(box_read(AT_FDCWD, box_path("r/etc/hosts")), "theirs");
}

static void symlinks_of_a_root_file_system_do_not_lead_out(void)
{
	struct box b;
	struct error err = {0};

	make_rootfs();
	make_project();
	CHECK(symlink(box_path("p"), box_path("r/out")) == 0);
	CHECK(symlink("/have", box_path("r/in")) == 0);
	box_init(&b);
	b.contract.rootfs = mem_strdup(box_path("r"));
	box_bind(&b, box_path("p"), "/in", false);
	box_start(&b);
	CHECK_TEXT(box_ask(&b, "cat /have/kept"), "ok kept");
	CHECK_TEXT(box_ask(&b, "mkdir /new"), "errno EROFS");
	CHECK_TEXT(box_ask(&b, "mkdir /etc/new"), "errno EROFS");
	box_finish(&b);

	box_init(&b);
	b.contract.rootfs = mem_strdup(box_path("r"));
	box_bind(&b, box_path("p"), "/out/sub", false);
	CHECK(box_try(&b, &err) < 0);
	CHECK(err.code == ERR_MISSING && has(err.msg, "'/out'"));
	box_finish(&b);
}

static void expect_error(struct box *b, enum errcode code, const char *part)
{
	struct error err = {0};

	if (box_try(b, &err) == 0)
		box_fail(__FILE__, __LINE__, part);
	if (err.code != code || !has(err.msg, part) || strchr(err.msg, '\n'))
		box_fail(__FILE__, __LINE__, err.msg);
	box_finish(b);
}

static void what_cannot_be_shown_is_one_error_that_quotes_it(void)
{
	struct box b;

	box_init(&b);
	box_bind(&b, "/not/there", "/x", false);
	expect_error(&b, ERR_MISSING, "bind '/not/there': No such file");
	box_init(&b);
	b.contract.copy_dir = mem_strdup("/not/there");
	expect_error(&b, ERR_MISSING, "copy '/not/there': No such file");
	box_init(&b);
	b.contract.copy_dir = mem_strdup("/usr");
	expect_error(&b, ERR_USAGE, "'/usr' cannot be the working directory");
	box_init(&b);
	b.contract.copy_dir = mem_strdup("/");
	expect_error(&b, ERR_USAGE, "'/' cannot be the working directory");
	box_init(&b);
	b.contract.rootfs = mem_strdup("/not/there");
	expect_error(&b, ERR_MISSING, "root file system '/not/there'");
	make_dir(box_path("empty"));
	box_init(&b);
	b.contract.rootfs = mem_strdup(box_path("empty"));
	expect_error(&b, ERR_MISSING, "needs an empty directory '/tmp'");
	box_init(&b);
	box_bind(&b, box_path("empty"), "/usr/not/there", false);
	expect_error(&b, ERR_MISSING, "'/usr/not/there' does not exist inside");
	box_init(&b);
	box_bind(&b, box_path("empty"), "/etc/passwd", false);
	expect_error(&b, ERR_USAGE, "'/etc/passwd'");
	if (geteuid() != 0) {
		CHECK(mkdir(box_path("closed"), 0) == 0);
		box_init(&b);
		box_bind(&b, box_path("closed"), "/x", false);
		expect_error(&b, ERR_SYSTEM, "closed': Permission denied");
	}
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		box_fail(__FILE__, __LINE__, path);
	close(fd);
}

static void without_user_namespaces_the_sysctl_is_named(void)
{
	struct box b;
	char map[64];

	snprintf(map, sizeof(map), "0 %u 1", geteuid());
	if (unshare(CLONE_NEWUSER) < 0)
		box_fail(__FILE__, __LINE__, strerror(errno));
	write_text("/proc/self/uid_map", map);
	write_text("/proc/sys/user/max_user_namespaces", "0");
	box_init(&b);
	expect_error(&b, ERR_UNSUPPORTED, "user.max_user_namespaces is 0");
}

static void a_full_process_table_is_a_clear_error(void)
{
	struct box b;

	setrlimit(RLIMIT_NPROC, &(struct rlimit){0, 0});
	box_init(&b);
	expect_error(&b, ERR_SYSTEM, "no process can be made");
}

static void a_supervisor_that_cannot_be_executed_is_an_error(void)
{
	struct error err = {0};
	struct contract c;
	struct launch *l = NULL;
	int pair[2];

	box_file("no program", "text");
	contract_init(&c);
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	CHECK(launch_start(&(struct launch_spec){.contract = &c,
				   .supervisor = open(box_path("text"), O_RDONLY | O_CLOEXEC),
				   .control = pair[1],
				   .stdio = {0, 1, 2}},
		      &l, &err) < 0);
	CHECK(has(err.msg, "execute the supervisor"));
	CHECK(!l);
}

/* Runs a container in a process that is then killed; its control groups' owner is gone. */
static void kill_9_of_the_host_kills_init_and_removes_its_groups(void)
{
	struct box b;
	int status, pair[2], control, killed = 0;
	struct error err;
	pid_t host;

	CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	box_init(&b);
	host = fork();
	if (host == 0) {
		/* It does not outlive a case that fails. */
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		box_start(&b);
		CHECK(fd_send(pair[1], &b.control, 1, &err) == 0);
		for (;;)
			pause();
	}
	/* With its control socket open, init has no other reason to end than the host's death. */
	CHECK(fd_recv(pair[0], &control, 1, &err) == 0);
	kill(host, SIGKILL);
	/* The host, then what we inherit: its init, and as root the janitor of its groups. */
	CHECK(waitpid(host, &status, 0) == host && WIFSIGNALED(status));
	while (waitpid(-1, &status, __WALL) > 0)
		if (WIFSIGNALED(status))
			killed += WTERMSIG(status) == SIGKILL;
		else
			CHECK(WEXITSTATUS(status) == 0);
	CHECK(errno == ECHILD && killed == 1);
	CHECK(box_groups_of(host) == 0);
	box_finish(&b);
}

/* Only Landlock stands in the way: the file is its user's own, on a mount that is writable. */
static void a_file_given_as_input_cannot_be_opened_for_writing(void)
{
	struct box b;

	box_file("input", "in");
	box_init(&b);
	b.input = open(box_path("in"), O_RDONLY | O_CLOEXEC);
	CHECK(b.input >= 0);
	box_start(&b);
	if (is_told(&b, "no Landlock")) {
		box_finish(&b);
		box_skip("no Landlock");
	}
	CHECK_TEXT(box_ask(&b, "write /proc/self/fd/0 x"), "errno EACCES");
	box_finish(&b);
	CHECK_TEXT(box_read(AT_FDCWD, box_path("in")), "input");
}

int main(int argc, char **argv)
{
	static const struct box_case cases[] = {
		BOX_CASE(copy_takes_writes_and_the_host_s_directory_keeps_its_state, BOX_BOTH),
		BOX_CASE(copy_of_a_removed_and_remade_directory_is_empty, BOX_BOTH),
		BOX_CASE(copy_of_a_path_with_odd_characters_works, BOX_BOTH),
		BOX_CASE(a_directory_that_no_overlay_can_lie_on_is_copied, BOX_AS_ROOT),
		BOX_CASE(read_only_bind_cannot_be_written, BOX_BOTH),
		BOX_CASE(mounts_beneath_a_read_only_bind_are_read_only, BOX_AS_ROOT),
		BOX_CASE(writable_bind_writes_to_the_host_as_the_owner, BOX_BOTH),
		BOX_CASE(a_copy_inside_a_bind_is_shown, BOX_BOTH),
		BOX_CASE(a_file_given_as_input_cannot_be_opened_for_writing, BOX_BOTH),
		BOX_CASE(a_given_root_file_system_is_read_only_with_our_own_parts, BOX_BOTH),
		BOX_CASE(symlinks_of_a_root_file_system_do_not_lead_out, BOX_BOTH),
		BOX_CASE(what_cannot_be_shown_is_one_error_that_quotes_it, BOX_BOTH),
		BOX_CASE(without_user_namespaces_the_sysctl_is_named, BOX_BOTH),
		BOX_CASE(a_full_process_table_is_a_clear_error, BOX_ROOTLESS),
		BOX_CASE(a_supervisor_that_cannot_be_executed_is_an_error, BOX_BOTH),
		BOX_CASE(kill_9_of_the_host_kills_init_and_removes_its_groups, BOX_BOTH),
	};

	return box_main(argc, argv, cases, ARRAY_LEN(cases));
}
