/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a guest finds in the native container, as root and without privileges: identity, confinement
 * and the view. Every case also checks that nothing is left behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "launch_box.h"

static bool has(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

static void identity_and_world_are_fixed(void)
{
	struct box b;
	sigset_t some;

	/* What init must not inherit. */
	setenv("SECRET", "canary", 1);
	sigemptyset(&some);
	sigaddset(&some, SIGUSR2);
	sigprocmask(SIG_BLOCK, &some, NULL);
	sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
	umask(077);
	CHECK(dup2(0, 77) == 77);
	CHECK(geteuid() != 0 || setgroups(1, (const gid_t[]){0}) == 0);

	box_init(&b);
	box_start(&b);
	CHECK_TEXT(b.hello, "ready argc 2 argv sandglass-supervise --init env none");
	CHECK_TEXT(box_ask(&b, "ids"),
		"ok uid 1000 gid 1000 groups 0 pid 1 sid 1 host sandglass domain (none)");
	/* The one handler is the probe's own. */
	CHECK_TEXT(box_ask(&b, "world"), "ok cwd / blocked 0 ignored 1 nnp 1 umask 22");
	/* 4 is the directory being listed. */
	CHECK_TEXT(box_ask(&b, "ls /proc/self/fd"), "ok 0 1 2 3 4");
	CHECK_TEXT(box_ask(&b, "cat /proc/1/environ"), "ok ");
	box_finish(&b);
}

static void init_keeps_two_capabilities_and_can_seize(void)
{
	static const char *const sets[] = {"CapInh", "CapPrm", "CapEff", "CapAmb"};
	struct box b;
	const char *status;

	box_init(&b);
	box_start(&b);
	status = box_ask(&b, "cat /proc/self/status");
	for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
		char line[64];

		/* CAP_SYS_PTRACE is bit 19, CAP_CHECKPOINT_RESTORE bit 40. */
		snprintf(line, sizeof(line), "%s:\t0000010000080000\n", sets[i]);
		CHECK(has(status, line));
	}
	CHECK(has(status, "CapBnd:\t0000000000000000\n"));
	CHECK_TEXT(box_ask(&b, "seize"), "ok");
	CHECK(has(box_ask(&b, "userns"), "errno"));
	CHECK_TEXT(box_ask(&b, "mount /tmp"), "errno EPERM");
	CHECK(has(box_ask(&b, "umount /proc/kallsyms"), "errno"));
	box_finish(&b);
}

static void only_loopback_is_there_and_up(void)
{
	struct box b;

	box_init(&b);
	box_start(&b);
	CHECK_TEXT(box_ask(&b, "ifaces"), "ok lo:up");
	box_finish(&b);
}

/* Writable mounts of the view, of which the rest must be read-only. */
static bool may_be_writable(const char *point)
{
	static const char *const points[] = {"/tmp", "/proc", "/dev/pts", "/dev/shm", "/dev/null",
		"/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"};

	for (size_t i = 0; i < ARRAY_LEN(points); i++)
		if (strcmp(point, points[i]) == 0)
			return true;
	return false;
}

static void every_mount_is_restricted(void)
{
	struct box b;
	char *rest, *line;
	int seen = 0;

	box_init(&b);
	box_start(&b);
	box_ask(&b, "mounts");
	strtok_r(b.reply, "\n", &rest);
	while ((line = strtok_r(NULL, "\n", &rest))) {
		char *options = strchr(line, ' ');
		bool device;

		*options++ = '\0';
		seen++;
		device = strncmp(line, "/dev/", 5) == 0 && strcmp(line, "/dev/shm") != 0;
		CHECK(has(options, "nosuid"));
		CHECK(has(options, device ? "noexec" : "nodev"));
		if (strncmp(options, "ro,", 3) != 0 && !may_be_writable(line))
			box_fail(__FILE__, __LINE__, line);
	}
	CHECK(seen > 10);
	box_finish(&b);
}

static void system_files_cannot_be_written(void)
{
	static const char *const paths[] = {
		"/new", "/usr/new", "/etc/new", "/dev/new", "/sys/new", "/usr/bin/new"};
	struct box b;

	box_init(&b);
	box_start(&b);
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		CHECK_TEXT(box_ask(&b, "write %s x", paths[i]), "errno EROFS");
	CHECK(has(box_ask(&b, "write /etc/passwd x"), "errno"));
	CHECK(has(box_ask(&b, "chmod /etc/passwd 666"), "errno EROFS"));
	CHECK(has(box_ask(&b, "write /bin/sh x"), "errno"));
	CHECK(has(box_ask(&b, "open /proc/sys/kernel/core_pattern w"), "errno"));
	CHECK(has(box_ask(&b, "open /proc/sys/kernel/hostname w"), "errno"));
	CHECK_TEXT(box_ask(&b, "write /tmp/new x"), "ok");
	CHECK_TEXT(box_ask(&b, "write /dev/shm/new x"), "ok");
	CHECK_TEXT(box_ask(&b, "mkdir /tmp/a"), "ok");
	CHECK_TEXT(box_ask(&b, "mkdir /tmp/b"), "ok");
	/* Landlock must not refuse a rename between directories. */
	CHECK_TEXT(box_ask(&b, "write /tmp/a/f x"), "ok");
	CHECK_TEXT(box_ask(&b, "rename /tmp/a/f /tmp/b/f"), "ok");
	box_finish(&b);
}

static void nothing_else_of_the_host_is_shown(void)
{
	struct box b;

	box_file("canary", "secret");
	box_init(&b);
	box_start(&b);
	CHECK_TEXT(box_ask(&b, "cat %s", box_path("secret")), "errno ENOENT");
	box_ask(&b, "ls /");
	for (char *rest = b.reply, *name; (name = strtok_r(rest, " ", &rest));)
		CHECK(has(" ok bin dev etc lib lib32 lib64 libo32 libx32 proc sbin sys tmp usr ",
			name));
	CHECK_TEXT(box_ask(&b, "cat /etc/shadow"), "errno ENOENT");
	CHECK_TEXT(box_ask(&b, "ls /tmp"), "ok");
	CHECK_TEXT(box_ask(&b, "ls /sys"), "ok block bus class dev devices fs kernel");
	CHECK_TEXT(box_ask(&b, "cat /sys/devices/system/cpu/online"), "ok 0\n");
	CHECK_TEXT(box_ask(&b, "ls /sys/block"), "ok");
	CHECK_TEXT(box_ask(&b, "cat /sys/fs/cgroup/memory.max"), "ok 2147483648\n");
	CHECK_TEXT(box_ask(&b, "cat /sys/kernel/mm/transparent_hugepage/enabled"),
		"ok always madvise [never]\n");
	CHECK_TEXT(box_ask(&b, "exec /bin/true"), "ok exit 0");
	CHECK_TEXT(box_ask(&b, "exec /bin/false"), "ok exit 1");
	box_finish(&b);
}

static void etc_has_the_fixed_texts(void)
{
	struct box b;
	char id[64];

	box_init(&b);
	box_start(&b);
	CHECK_TEXT(box_ask(&b, "cat /etc/passwd"),
		"ok root:x:0:0:root:/tmp:/usr/sbin/nologin\n"
		"guest:x:1000:1000:guest:/tmp:/bin/sh\n"
		"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
	CHECK_TEXT(box_ask(&b, "cat /etc/hosts"),
		"ok 127.0.0.1\tlocalhost sandglass\n::1\tlocalhost ip6-localhost ip6-loopback\n");
	CHECK_TEXT(box_ask(&b, "cat /etc/hostname"), "ok sandglass\n");
	CHECK_TEXT(box_ask(&b, "readlink /etc/localtime"), "ok /usr/share/zoneinfo/Etc/UTC");
	snprintf(id, sizeof(id), "%.60s", box_ask(&b, "cat /etc/machine-id"));
	CHECK(strlen(id) == 3 + 32 + 1);
	box_finish(&b);

	/* The same key gives the same id, another key another one. */
	box_init(&b);
	box_start(&b);
	CHECK_TEXT(box_ask(&b, "cat /etc/machine-id"), id);
	box_finish(&b);
	box_init(&b);
	b.contract.entropy_key[0] = 1;
	box_start(&b);
	CHECK(strcmp(box_ask(&b, "cat /etc/machine-id"), id) != 0);
	box_finish(&b);
}

static void proc_tells_nothing_of_the_host(void)
{
	static const char *const files[] = {"kcore", "kallsyms", "keys", "timer_list", "cmdline",
		"config.gz", "interrupts", "partitions"};
	static const char *const dirs[] = {"acpi", "scsi", "fs", "bus", "irq"};
	struct box b;

	box_init(&b);
	box_start(&b);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		const char *r = box_ask(&b, "cat /proc/%s", files[i]);

		/* Absent, closed to all but the host's root, or masked. */
		if (strcmp(r, "errno ENOENT") != 0 && strcmp(r, "errno EACCES") != 0)
			CHECK_TEXT(r, "ok ");
	}
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		const char *r = box_ask(&b, "ls /proc/%s", dirs[i]);

		if (strcmp(r, "errno ENOENT") != 0)
			CHECK_TEXT(r, "ok");
	}
	CHECK(has(box_ask(&b, "open /proc/sysrq-trigger w"), "errno"));
	/* One process: the pid namespace is ours. */
	CHECK_TEXT(box_ask(&b, "fork"), "ok 64");
	CHECK(has(box_ask(&b, "ls /proc"), "ok 1 "));
	CHECK(!has(b.reply, " 2 "));
	/* The cgroup namespace begins at the sandbox: every path is "/". */
	box_ask(&b, "cat /proc/self/cgroup");
	for (const char *p = b.reply; (p = strchr(p, '/')); p++)
		CHECK(p[1] == '\n');
	box_finish(&b);
}

static void dev_has_six_nodes(void)
{
	struct box b;

	box_init(&b);
	box_start(&b);
	CHECK_TEXT(box_ask(&b, "ls /dev"),
		"ok fd full null ptmx pts random shm stderr stdin stdout tty urandom zero");
	CHECK(has(box_ask(&b, "stat /dev/null"), "rdev 1:3"));
	CHECK(has(box_ask(&b, "stat /dev/urandom"), "rdev 1:9"));
	CHECK_TEXT(box_ask(&b, "write /dev/null x"), "ok");
	CHECK_TEXT(box_ask(&b, "open /dev/urandom r"), "ok");
	CHECK_TEXT(box_ask(&b, "open /dev/ptmx w"), "ok");
	CHECK_TEXT(box_ask(&b, "ls /dev/pts"), "ok ptmx");
	box_finish(&b);
}

static void tmpfs_sizes_are_the_contract_s(void)
{
	struct box b;

	box_init(&b);
	b.contract.tmp_bytes = 8 << 20;
	b.contract.tmp_inodes = 100;
	box_start(&b);
	CHECK_TEXT(box_ask(&b, "statfs /tmp"), "ok bytes 8388608 inodes 100");
	CHECK_TEXT(box_ask(&b, "statfs /dev/shm"), "ok bytes 8388608 inodes 100");
	box_finish(&b);
}

static void a_nudge_reaches_init(void)
{
	struct box b;
	struct error err;

	box_init(&b);
	box_start(&b);
	CHECK(launch_nudge(b.launch, &err) == 0);
	CHECK(has(box_ask(&b, "ids"), "nudged"));
	box_finish(&b);
}

static void exit_status_is_told_and_free_is_safe_at_any_moment(void)
{
	struct box b;
	struct error err;
	int status;

	box_init(&b);
	box_start(&b);
	box_ask(&b, "exit 7");
	status = box_wait(&b);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	CHECK(!launch_was_oom(b.launch));
	CHECK(launch_nudge(b.launch, &err) == 0);
	box_finish(&b);

	box_init(&b);
	box_start(&b);
	launch_kill(b.launch);
	launch_kill(b.launch);
	status = box_wait(&b);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	box_finish(&b);
	launch_free(NULL);
}

static void degraded_limits_are_told(void)
{
	struct box b;
	const struct launch_degraded *d;
	bool memory = false;
	size_t n;

	box_init(&b);
	box_start(&b);
	d = launch_degraded(b.launch, &n);
	for (size_t i = 0; i < n; i++) {
		CHECK(d[i].reason == REASON_LIMIT_DEGRADED);
		memory = memory || strncmp(d[i].detail, "memory: ", 8) == 0;
	}
	CHECK(memory == launch_needs_memory_watch(b.launch));
	box_finish(&b);
}

static void cgroup_limits_hold(void)
{
	struct box b;

	box_init(&b);
	b.contract.memory_bytes = 64 << 20;
	b.contract.pids = 20;
	box_start(&b);
	if (launch_needs_memory_watch(b.launch)) {
		box_finish(&b);
		box_skip("no control group can be made");
	}
	CHECK_TEXT(box_ask(&b, "forks 100"), "ok 20");
	CHECK_TEXT(box_ask(&b, "touch 16"), "ok exit 0");
	CHECK_TEXT(box_ask(&b, "touch 256"), "ok signal 9");
	box_wait(&b);
	CHECK(launch_was_oom(b.launch));
	box_finish(&b);
}

int main(int argc, char **argv)
{
	static const struct box_case cases[] = {
		BOX_CASE(identity_and_world_are_fixed, BOX_BOTH),
		BOX_CASE(init_keeps_two_capabilities_and_can_seize, BOX_BOTH),
		BOX_CASE(only_loopback_is_there_and_up, BOX_BOTH),
		BOX_CASE(every_mount_is_restricted, BOX_BOTH),
		BOX_CASE(system_files_cannot_be_written, BOX_BOTH),
		BOX_CASE(nothing_else_of_the_host_is_shown, BOX_BOTH),
		BOX_CASE(etc_has_the_fixed_texts, BOX_BOTH),
		BOX_CASE(proc_tells_nothing_of_the_host, BOX_BOTH),
		BOX_CASE(dev_has_six_nodes, BOX_BOTH),
		BOX_CASE(tmpfs_sizes_are_the_contract_s, BOX_BOTH),
		BOX_CASE(a_nudge_reaches_init, BOX_BOTH),
		BOX_CASE(exit_status_is_told_and_free_is_safe_at_any_moment, BOX_BOTH),
		BOX_CASE(degraded_limits_are_told, BOX_BOTH),
		BOX_CASE(cgroup_limits_hold, BOX_BOTH),
	};

	return box_main(argc, argv, cases, ARRAY_LEN(cases));
}
