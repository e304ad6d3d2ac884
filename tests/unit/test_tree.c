/* SPDX-License-Identifier: Apache-2.0 */
/* A guest's tree is listed the same way every time, and nothing in it leads the reader astray. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/temp.h"
#include "run/export.h"
#include "run/tree.h"

struct fixture {
	char *dir;
	int root, base;
};

static int shell(const char *dir, const char *text)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (chdir(dir) < 0)
			_exit(99);
		execl("/bin/sh", "sh", "-ec", text, NULL);
		_exit(98);
	}
	return waitpid(child, &status, 0) == child ? status : -1;
}

static int setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	char name[] = "/tmp/sandglass-tree-XXXXXX";

	if (!mkdtemp(name))
		return -1;
	f->dir = mem_strdup(name);
	*state = f;
	if (shell(name, "chmod 755 .; mkdir root base") != 0)
		return -1;
	autofree char *root = str_format("%s/root", name), *base = str_format("%s/base", name);
	f->root = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	f->base = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return f->root < 0 || f->base < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	autofree char *text = str_format("chmod -R u+rwx %s; rm -rf %s", f->dir, f->dir);
	int r = shell("/tmp", text);

	close(f->root);
	close(f->base);
	free(f->dir);
	free(f);
	return r;
}

/* The listing as text (caller frees). */
static char *list(const struct tree_source *s, char digest[DIGEST_TEXT])
{
	autoclose int fd = -1;
	struct error err = {0};
	char *text = NULL;
	size_t len;

	assert_int_equal(temp_open(&fd, &err), 0);
	if (tree_digest(s, fd, digest, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(fd_slurp(fd, 1 << 20, &text, &len, &err), 0);
	return text;
}

static void everything_is_listed_in_order(void **state)
{
	struct fixture *f = *state;
	struct tree_source s = {.root = f->root, .base = -1};
	char digest[DIGEST_TEXT], again[DIGEST_TEXT];

	assert_int_equal(
		shell(f->dir,
			"cd root; umask 022; mkdir -p d/e; printf hi > d/f; ln -s /etc/passwd link;"
			"mkfifo pipe; printf x > \"$(printf 'a\\nb')\"; printf '' > Z; chmod 600 "
			"Z"),
		0);
	autofree char *text = list(&s, digest), *same = list(&s, again);
	assert_string_equal(text,
		"{\"digest\":\"sha256:"
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\",\"mode\":"
		"\"0600\","
		"\"path\":\"Z\",\"size\":0,\"type\":\"file\"}\n"
		"{\"digest\":\"sha256:"
		"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881\",\"mode\":"
		"\"0644\","
		"\"path\":\"a\\nb\",\"size\":1,\"type\":\"file\"}\n"
		"{\"mode\":\"0755\",\"path\":\"d\",\"type\":\"directory\"}\n"
		"{\"mode\":\"0755\",\"path\":\"d/e\",\"type\":\"directory\"}\n"
		"{\"digest\":\"sha256:"
		"8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4\",\"mode\":"
		"\"0644\","
		"\"path\":\"d/f\",\"size\":2,\"type\":\"file\"}\n"
		"{\"path\":\"link\",\"target\":\"/etc/passwd\",\"type\":\"symlink\"}\n"
		"{\"mode\":\"0644\",\"path\":\"pipe\",\"type\":\"fifo\"}\n");
	assert_string_equal(text, same);
	assert_string_equal(digest, again);
}

static void what_the_base_has_is_left_out(void **state)
{
	struct fixture *f = *state;
	struct tree_source s = {.root = f->root, .base = f->base};
	char digest[DIGEST_TEXT];

	assert_int_equal(
		shell(f->dir,
			"umask 022; for d in root base; do (cd $d; mkdir same old; printf 1 > "
			"same/a;"
			"printf 1 > same/b; printf 1 > old/x; ln -s t link); done;"
			"cd root; printf 2 > same/b; rm -r old; chmod 700 same/a; ln -sf u link"),
		0);
	autofree char *text = list(&s, digest);
	assert_non_null(strstr(text, "{\"path\":\"link\",\"target\":\"u\",\"type\":\"symlink\"}\n{"
				     "\"path\":\"old\",\"type\":\"deleted\"}\n"));
	assert_non_null(strstr(text, "\"mode\":\"0700\",\"path\":\"same/a\""));
	assert_non_null(strstr(text, "\"path\":\"same/b\""));
	assert_null(strstr(text, "\"path\":\"same\""));
	assert_null(strstr(text, "old/x"));
}

static void a_whiteout_is_a_deletion(void **state)
{
	struct fixture *f = *state;
	struct tree_source s = {.root = f->root, .base = f->base, .is_overlay = true};
	char digest[DIGEST_TEXT];

	assert_int_equal(
		shell(f->dir, "printf 1 > base/gone; printf 1 > base/kept; printf 2 > root/new"),
		0);
	if (mknodat(f->root, "gone", S_IFCHR | 0600, makedev(0, 0)) < 0 ||
		mknodat(f->root, "never", S_IFCHR | 0600, makedev(0, 0)) < 0)
		skip();
	autofree char *text = list(&s, digest);
	assert_non_null(strstr(text, "{\"path\":\"gone\",\"type\":\"deleted\"}\n"));
	assert_null(strstr(text, "kept"));
	assert_null(strstr(text, "never"));
}

static void times_of_the_kernel_become_logical(void **state)
{
	struct fixture *f = *state;
	struct tree_source s = {.root = f->root,
		.base = -1,
		.has_times = true,
		.real_from_ns = 10,
		.real_to_ns = UINT64_MAX / 2,
		.now_ns = 1700000000000000000ull};
	char digest[DIGEST_TEXT];

	assert_int_equal(
		shell(f->dir,
			"printf 1 > root/now; printf 1 > root/old; touch -d @0.000000005 root/old"),
		0);
	autofree char *text = list(&s, digest);
	assert_non_null(strstr(text, "\"mtime_ns\":1700000000000000000,\"path\":\"now\""));
	assert_non_null(strstr(text, "\"mtime_ns\":5,\"path\":\"old\""));
}

static void a_terabyte_of_nothing_is_read_in_no_time(void **state)
{
	struct fixture *f = *state;
	struct tree_source s = {.root = f->root, .base = -1};
	char digest[DIGEST_TEXT], other[DIGEST_TEXT];

	assert_int_equal(shell(f->dir, "truncate -s 1T root/big"), 0);
	autofree char *text = list(&s, digest);
	assert_non_null(strstr(text, "\"blocks\":\"sha256:"));
	assert_non_null(strstr(text, "\"size\":1099511627776"));
	assert_int_equal(
		shell(f->dir, "printf x | dd of=root/big bs=1 seek=500G conv=notrunc 2>/dev/null"),
		0);
	autofree char *changed = list(&s, other);
	assert_true(strstr(changed, "\"blocks\"") != NULL);
	assert_string_not_equal(digest, other);
	/* Zeros that are written are the same as a hole. */
	assert_int_equal(shell(f->dir, "head -c 1 /dev/zero | dd of=root/big bs=1 seek=500G "
				       "conv=notrunc 2>/dev/null"),
		0);
	autofree char *zeros = list(&s, other);
	assert_string_equal(text, zeros);
	assert_string_equal(digest, other);
}

static void a_tree_that_is_too_deep_is_said_to_be(void **state)
{
	struct fixture *f = *state;
	struct tree_source s = {.root = f->root, .base = -1};
	char digest[DIGEST_TEXT];

	assert_int_equal(
		shell(f->dir,
			"cd root; i=0; while [ $i -lt 200 ]; do mkdir d; cd d; i=$((i+1)); done"),
		0);
	autofree char *text = list(&s, digest);
	assert_non_null(strstr(text, "\"type\":\"unread\""));
}

static void sockets_are_listed_and_never_opened(void **state)
{
	struct fixture *f = *state;
	struct tree_source s = {.root = f->root, .base = -1};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char digest[DIGEST_TEXT];

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/root/s", f->dir);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	autofree char *text = list(&s, digest);
	assert_non_null(strstr(text, "\"type\":\"socket\""));
}

/* As an ordinary user: root reads everything anyway. */
static void what_a_guest_closed_to_its_owner_is_read(void **state)
{
	struct fixture *f = *state;
	struct tree_source s = {.root = f->root, .base = -1, .is_ours = true};
	char digest[DIGEST_TEXT], again[DIGEST_TEXT];
	pid_t child;
	int status;

	assert_int_equal(
		shell(f->dir, "cd root; mkdir d e; printf hi > d/f; printf ho > g; chmod 000 g "
			      "d/f; chmod 644 d;"
			      "chmod 000 e; if [ $(id -u) = 0 ]; then chown -R 65534 .; fi"),
		0);
	child = fork();
	if (child == 0) {
		if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
			_exit(1);
		autofree char *text = list(&s, digest), *same = list(&s, again);
		_exit(strstr(text, "unread") || !strstr(text, "\"mode\":\"0644\",\"path\":\"d\"") ||
			!strstr(text, "\"mode\":\"0000\",\"path\":\"d/f\"") ||
			strcmp(text, same) != 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(
		shell(f->dir, "[ $(stat -c %a root/d) = 644 ]; [ $(stat -c %a root/g) = 0 ]"), 0);
}

static void an_export_has_files_and_no_set_id(void **state)
{
	struct fixture *f = *state;
	struct tree_source s = {.root = f->root, .base = -1};
	autofree char *out = str_format("%s/out", f->dir);
	struct export_counts counts;
	struct error err = {0};
	struct stat st;

	assert_int_equal(shell(f->dir, "cd root; mkdir -p a/b; printf hi > a/b/f; chmod 4755 "
				       "a/b/f; ln -s /etc/passwd l;"
				       "mkfifo p; truncate -s 1T big"),
		0);
	assert_int_equal(export_tree(&s, out, &counts, &err), 0);
	assert_int_equal(
		shell(f->dir,
			"cd out; [ \"$(cat a/b/f)\" = hi ]; [ \"$(readlink l)\" = /etc/passwd ]; [ "
			"! -e p ];"
			"[ $(stat -c %s big) = 1099511627776 ]; [ $(stat -c %a a/b/f) = 755 ]"),
		0);
	assert_int_equal(counts.files, 2);
	assert_int_equal(counts.skipped, 1);
	assert_int_equal(lstat(out, &st), 0);
}

static void an_export_has_the_guest_s_times(void **state)
{
	struct fixture *f = *state;
	struct tree_source s = {.root = f->root, .base = -1, .has_times = true};
	autofree char *out = str_format("%s/out", f->dir);
	struct export_counts counts;
	struct error err = {0};

	assert_int_equal(
		shell(f->dir, "cd root; mkdir -p a/b; printf hi > a/b/f; ln -s x l;"
			      "touch -h -d @1000 l a/b/f; touch -d @2000 a/b; touch -d @3000 a"),
		0);
	assert_int_equal(export_tree(&s, out, &counts, &err), 0);
	assert_int_equal(
		shell(f->dir, "cd out; [ $(stat -c %Y l) = 1000 ]; [ $(stat -c %Y a/b/f) = 1000 ];"
			      "[ $(stat -c %Y a/b) = 2000 ]; [ $(stat -c %Y a) = 3000 ]"),
		0);
}

static void an_export_into_a_full_directory_is_refused(void **state)
{
	struct fixture *f = *state;
	autofree char *out = str_format("%s/base", f->dir), *file = str_format("%s/base/x", f->dir);
	struct error err = {0};

	assert_int_equal(export_check(out, &err), 0);
	assert_int_equal(shell(f->dir, "printf 1 > base/x"), 0);
	assert_int_equal(export_check(out, &err), -1);
	assert_int_equal(err.code, ERR_USAGE);
	assert_int_equal(export_check(file, &err), -1);
}

static void a_planted_link_does_not_lead_the_export_out(void **state)
{
	struct fixture *f = *state;
	struct tree_source s = {.root = f->root, .base = -1};
	autofree char *out = str_format("%s/out", f->dir);
	struct export_counts counts;
	struct error err = {0};

	/* Somebody swaps a directory of the output for a symlink: the copy must not follow it. */
	assert_int_equal(
		shell(f->dir,
			"mkdir -p root/a out victim; printf hi > root/a/f; ln -s ../victim out/a"),
		0);
	assert_int_equal(export_tree(&s, out, &counts, &err), -1);
	assert_int_equal(shell(f->dir, "[ ! -e victim/f ]"), 0);
}

static void a_full_disk_leaves_nothing_behind(void **state)
{
	struct fixture *f = *state;
	struct tree_source s = {.root = f->root, .base = -1};
	autofree char *out = str_format("%s/small/out", f->dir);
	struct export_counts counts;
	struct error err = {0};

	if (shell(f->dir, "mkdir small; mount -t tmpfs -o size=64k none small 2>/dev/null") != 0)
		skip();
	assert_int_equal(
		shell(f->dir,
			"printf hi > root/a; head -c 1000000 /dev/zero | tr '\\0' x > root/b"),
		0);
	int r = export_tree(&s, out, &counts, &err);
	int left = shell(f->dir, "[ ! -e small/out ]");
	assert_int_equal(shell(f->dir, "umount small"), 0);
	assert_int_equal(r, -1);
	assert_non_null(strstr(err.msg, "No space left"));
	assert_int_equal(left, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(everything_is_listed_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(what_the_base_has_is_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(a_whiteout_is_a_deletion, setup, teardown),
		cmocka_unit_test_setup_teardown(
			times_of_the_kernel_become_logical, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_terabyte_of_nothing_is_read_in_no_time, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_tree_that_is_too_deep_is_said_to_be, setup, teardown),
		cmocka_unit_test_setup_teardown(
			sockets_are_listed_and_never_opened, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_a_guest_closed_to_its_owner_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(an_export_has_files_and_no_set_id, setup, teardown),
		cmocka_unit_test_setup_teardown(an_export_has_the_guest_s_times, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_export_into_a_full_directory_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_planted_link_does_not_lead_the_export_out, setup, teardown),
		cmocka_unit_test_setup_teardown(a_full_disk_leaves_nothing_behind, setup, teardown),
	};

	return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
