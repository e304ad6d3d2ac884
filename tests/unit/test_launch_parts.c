/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of launch that need no container: the copy of a tree, and which of /etc is shown. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/remove.h"
#include "launch/copy.h"
#include "launch/etc.h"
#include "launch/ns.h"

static int unshown;

/* Symlinks under /usr that lead to an entry of /etc which the view does not show. */
static int look_at_link(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char target[PATH_MAX], top[PATH_MAX];
	const char *name = NULL;
	ssize_t len;

	(void)st;
	(void)ftw;
	if (type != FTW_SL)
		return 0;
	len = readlink(path, target, sizeof(target) - 1);
	if (len < 0)
		return 0;
	target[len] = '\0';
	if (strncmp(target, "/etc/", 5) == 0)
		name = target + 5;
	else if (strncmp(target, "..", 2) == 0 && strstr(target, "../etc/") &&
		 realpath(path, top) && strncmp(top, "/etc/", 5) == 0)
		name = strstr(target, "../etc/") + 7;
	if (!name)
		return 0;
	snprintf(top, sizeof(top), "%s", name);
	/* Of ssl only two entries are shown: the third holds private keys. */
	if (strncmp(top, "ssl/", 4) == 0)
		top[4 + strcspn(top + 4, "/")] = '\0';
	else
		top[strcspn(top, "/")] = '\0';
	/* The host's zone and its administrator's environment are not for guests. */
	if (strcmp(top, "localtime") == 0 || strcmp(top, "environment") == 0 ||
		strcmp(top, "ssl/private") == 0)
		return 0;
	if (!etc_is_shown(top)) {
		fprintf(stderr, "# %s leads to /etc/%s, which is not shown\n", path, top);
		unshown++;
	}
	return 0;
}

static void every_etc_path_that_a_symlink_under_usr_leads_to_is_shown(void **state)
{
	(void)state;
	assert_int_equal(nftw("/usr", look_at_link, 32, FTW_PHYS | FTW_MOUNT), 0);
	assert_int_equal(unshown, 0);
}

static void entries_with_secrets_are_not_shown(void **state)
{
	static const char *const names[] = {"shadow", "gshadow", "passwd", "ssh", "ssl",
		"ssl/private", "machine-id", "hostname", "hosts", "resolv.conf", "environment",
		"npmrc", "pip.conf", "krb5.keytab", "sudoers", "fstab", "localtime"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_false(etc_is_shown(names[i]));
	assert_true(etc_is_shown("java-17-openjdk"));
	assert_true(etc_is_shown("ssl/certs"));
}

/* The page shows a user what the guest sees; it may not say anything else. */
static void the_contract_s_page_has_every_text(void **state)
{
	const char *source = getenv("SANDGLASS_SOURCE");
	char path[PATH_MAX];
	char *page = NULL;
	size_t len = 0;
	struct contract c;
	struct error err;
	int fd;

	(void)state;
	assert_non_null(source);
	snprintf(path, sizeof(path), "%s/docs/format/contract.md", source);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fd_slurp(fd, 1 << 20, &page, &len, &err), 0);
	close(fd);
	contract_init(&c);
	for (size_t i = 0; i < etc_file_count; i++) {
		char *text = etc_text(&etc_files[i], &c);
		char block[4096];

		/* The machine id depends on the key: the page has the one of the zero key. */
		snprintf(block, sizeof(block), "`/etc/%s`:\n\n```\n%s```\n", etc_files[i].name,
			text);
		if (!strstr(page, block))
			fprintf(stderr, "# docs/format/contract.md lacks:\n%s", block);
		assert_non_null(strstr(page, block));
		free(text);
	}
	free(page);
	contract_finish(&c);
}

static char dir[] = "/tmp/sandglass-copy-XXXXXX";

static int make_trees(void **state)
{
	static char name[sizeof(dir)];

	memcpy(name, dir, sizeof(dir));
	if (!mkdtemp(name) || chdir(name) < 0 || mkdir("from", 0755) < 0 || mkdir("to", 0755) < 0)
		return -1;
	*state = name;
	return 0;
}

static int remove_trees(void **state)
{
	const char *name = *state;
	pid_t pid = fork();

	if (pid == 0) {
		execlp("rm", "rm", "-rf", name, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	return chdir("/");
}

static void write_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static int copy(struct error *err)
{
	const struct idmap own = {.uid = geteuid(), .gid = getegid()};
	int from = open("from", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int to = open("to", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int result = copy_tree(from, to, &own, err);

	close(from);
	close(to);
	return result;
}

static void copy_keeps_kinds_modes_and_times_and_follows_nothing(void **state)
{
	const struct timespec times[2] = {
		{.tv_sec = 1000000000, .tv_nsec = 5}, {.tv_sec = 1000000000, .tv_nsec = 5}};
	struct error err;
	char target[64] = "";
	struct stat st;

	(void)state;
	write_file("outside", "secret", 0644);
	assert_int_equal(mkdir("from/dir", 0750), 0);
	write_file("from/dir/file", "text", 04755);
	assert_int_equal(symlink("../outside", "from/link"), 0);
	assert_int_equal(symlink("/etc", "from/dir/etc"), 0);
	assert_int_equal(mkfifo("from/fifo", 0644), 0);
	assert_int_equal(utimensat(AT_FDCWD, "from/dir/file", times, 0), 0);
	assert_int_equal(copy(&err), 0);

	assert_int_equal(lstat("to/dir/file", &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0755);
	assert_int_equal(st.st_size, 4);
	assert_int_equal(st.st_mtim.tv_sec, 1000000000);
	assert_int_equal(st.st_mtim.tv_nsec, 5);
	assert_int_equal(lstat("to/dir", &st), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0750);
	assert_int_equal(readlink("to/link", target, sizeof(target) - 1), 10);
	assert_string_equal(target, "../outside");
	assert_int_equal(lstat("to/dir/etc", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(lstat("to/fifo", &st), -1);
}

static void copy_of_too_deep_a_tree_is_an_error(void **state)
{
	struct error err = {0};
	int at = open("from", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	for (int i = 0; i < 300; i++) {
		int next;

		assert_int_equal(mkdirat(at, "d", 0755), 0);
		next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = next;
	}
	close(at);
	assert_int_equal(copy(&err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
}

/* Fills "from" by a shell and removes it, both as somebody whom modes shut out. */
static void removal_of(const char *script)
{
	pid_t shell, child;
	int status;

	assert_int_equal(chmod(".", 0755), 0);
	assert_true(geteuid() != 0 || chown("from", 65534, 65534) == 0);
	child = fork();
	if (child == 0) {
		struct error err = {0};
		int from = open("from", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
			_exit(9);
		shell = fork();
		if (shell == 0) {
			if (fchdir(from) == 0)
				execlp("sh", "sh", "-ec", script, (char *)NULL);
			_exit(127);
		}
		if (waitpid(shell, &status, 0) != shell || status != 0)
			_exit(8);
		if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){256, 256}) < 0)
			_exit(7);
		_exit(remove_contents(from, &err) == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	/* rmdir refuses what is not empty. */
	assert_int_equal(rmdir("from"), 0);
}

static void a_directory_that_its_owner_cannot_search_is_removed(void **state)
{
	(void)state;
	removal_of("mkdir -p a/b c/d e/f; touch a/b/x; chmod 0400 a; chmod 0600 c; chmod 0 e");
}

static void locked_directories_too_deep_for_descriptors_are_removed(void **state)
{
	(void)state;
	removal_of("n=0; while [ $n -lt 400 ]; do mkdir d; cd d; n=$((n + 1)); done\n"
		   "while [ $n -gt 0 ]; do chmod 0500 .; cd ..; n=$((n - 1)); done");
}

/* 'Z', or 0 when there is none. */
static char state_of(pid_t pid)
{
	char path[32], state = '\0';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = '\0';
	if (f)
		fclose(f);
	return state;
}

static void a_holder_dies_with_its_maker(void **unused)
{
	pid_t holder = -1, maker;
	int ends[2], tries = 0;
	char state;

	(void)unused;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	maker = fork();
	assert_true(maker >= 0);
	if (maker == 0) {
		struct error err = {0};
		int pidfd;
		pid_t pid = ns_clone_holder(&pidfd, &err);

		if (write(ends[1], &pid, sizeof(pid)) != sizeof(pid))
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ends[0], &holder, sizeof(holder)), sizeof(holder));
	kill(maker, SIGKILL);
	waitpid(maker, NULL, 0);
	close(ends[0]);
	close(ends[1]);
	assert_true(holder > 0);
	while ((state = state_of(holder)) != '\0' && state != 'Z' && tries++ < 1000)
		usleep(10000);
	assert_true(state == '\0' || state == 'Z');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_etc_path_that_a_symlink_under_usr_leads_to_is_shown),
		cmocka_unit_test(entries_with_secrets_are_not_shown),
		cmocka_unit_test(the_contract_s_page_has_every_text),
		cmocka_unit_test_setup_teardown(
			copy_keeps_kinds_modes_and_times_and_follows_nothing, make_trees,
			remove_trees),
		cmocka_unit_test_setup_teardown(
			copy_of_too_deep_a_tree_is_an_error, make_trees, remove_trees),
		cmocka_unit_test_setup_teardown(a_directory_that_its_owner_cannot_search_is_removed,
			make_trees, remove_trees),
		cmocka_unit_test_setup_teardown(
			locked_directories_too_deep_for_descriptors_are_removed, make_trees,
			remove_trees),
		cmocka_unit_test(a_holder_dies_with_its_maker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
