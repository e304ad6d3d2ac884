/* SPDX-License-Identifier: Apache-2.0 */
/* A tree has one image wherever it is, and comes back from it as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/bytes.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "cas/cas.h"
#include "cas/git_index.h"
#include "cas/holes.h"
#include "cas/snapshot.h"
#include "scratch.h"

/* SHA-256 of what Python's tarfile makes of these trees (USTAR, sorted, zero times and owners). */
#define EMPTY "sha256:84ff92691f909a05b224e1c56abb4864f01b4f8e3c854e4bb4c7baf1d3f6d652"
#define ONE_FILE "sha256:051383dae83aa1fbf0fed915b018f62dc22cb928fbd4697818bec8028f95366c"
#define FOUR "sha256:c6ddcea23957c54fa015fe5c7bc762ad3b753061bb6b195ca0aac83498c06030"

static struct cas *open_store(const struct scratch *s)
{
	autofree char *path = scratch_path(s, "store");
	struct error err = {0};
	struct cas *c = NULL;

	if (cas_open(path, CAS_WRITE, &c, &err) < 0)
		fail_msg("%s", err.msg);
	return c;
}

static char *digest_with(const struct scratch *s, const char *name, struct snapshot_policy policy)
{
	autoclose int dir = scratch_dir(s, name);
	char *digest = mem_alloc(DIGEST_TEXT);
	struct error err = {0};

	if (snapshot_digest(dir, &policy, digest, &err) < 0)
		fail_msg("%s", err.msg);
	return digest;
}

static char *digest_of_tree(const struct scratch *s, const char *name)
{
	return digest_with(s, name, (struct snapshot_policy){0});
}

/* The error that a freeze has to end with (caller's, static). */
static const struct error *refused(const struct scratch *s, struct snapshot_policy policy)
{
	static struct error err;
	autoclose int dir = scratch_dir(s, "tree");
	char digest[DIGEST_TEXT];

	err = (struct error){0};
	assert_int_equal(snapshot_digest(dir, &policy, digest, &err), -1);
	return &err;
}

/* Freezes "tree", thaws it as "again", freezes that: the digests agree. Gives the first (caller
 * frees); *special is the list that thaw gave. */
static char *round_trip_with(
	const struct scratch *s, struct snapshot_policy policy, char **ret_special)
{
	auto_cas struct cas *c = open_store(s);
	autoclose int tree = scratch_dir(s, "tree"), again = scratch_dir(s, "again");
	char *first = mem_alloc(DIGEST_TEXT), second[DIGEST_TEXT];
	struct error err = {0};
	char *special = NULL;

	if (snapshot_freeze(tree, &policy, c, first, &err) < 0 ||
		snapshot_thaw(c, first, again, NULL, &special, &err) < 0)
		fail_msg("%s", err.msg);
	policy.special = special;
	if (snapshot_digest(again, &policy, second, &err) < 0)
		fail_msg("%s", err.msg);
	assert_string_equal(first, second);
	assert_int_equal(cas_verify(c, first, NULL, NULL), CAS_INTACT);
	if (ret_special)
		*ret_special = special;
	else
		free(special);
	return first;
}

static char *round_trip(const struct scratch *s)
{
	return round_trip_with(s, (struct snapshot_policy){0}, NULL);
}

static void golden_vectors(void **state)
{
	const struct scratch *s = *state;
	autofree char *empty = NULL, *one = NULL, *four = NULL;

	assert_int_equal(scratch_shell(s, "mkdir e o f; printf BASE >o/base.txt;"
					  "printf hi >f/a.txt; mkdir f/d; printf '#!\\n' >f/d/x;"
					  "chmod 755 f/d/x; ln -s a.txt f/l"),
		0);
	empty = digest_of_tree(s, "e");
	one = digest_of_tree(s, "o");
	four = digest_of_tree(s, "f");
	assert_string_equal(empty, EMPTY);
	assert_string_equal(one, ONE_FILE);
	assert_string_equal(four, FOUR);
}

static void times_owners_and_links_to_a_file_do_not_count(void **state)
{
	const struct scratch *s = *state;
	autofree char *first = NULL, *second = NULL;

	assert_int_equal(scratch_shell(s, "mkdir a b; for d in a b; do echo x >$d/x; done;"
					  "cp a/x a/y; ln b/x b/y; touch -d 2001-01-01 a/x a;"
					  "[ $(id -u) != 0 ] || chown 7:7 b/x b"),
		0);
	first = digest_of_tree(s, "a");
	second = digest_of_tree(s, "b");
	assert_string_equal(first, second);
}

static void every_mode_bit_counts_and_comes_back(void **state)
{
	const struct scratch *s = *state;
	struct stat st;
	autofree char *digest = NULL, *other = NULL, *file = NULL, *dir = NULL;

	assert_int_equal(
		scratch_shell(s, "mkdir tree; cd tree;"
				 "for m in 0600 0644 0664 0666 0777 0400 0444 4755 2711; do"
				 " echo $m >f$m; chmod $m f$m; mkdir d$m; echo >d$m/in;"
				 " chmod $m d$m; done; mkdir d1777 d0500; chmod 1777 d1777;"
				 "chmod 0500 d0500; chmod u+rx d0600 d0644 d0664 d0666 d0400 "
				 "d0444"),
		0);
	umask(077);
	digest = round_trip(s);
	umask(022);
	file = scratch_path(s, "again/f0666");
	dir = scratch_path(s, "again/d2711");
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0666);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 02711);
	assert_int_equal(scratch_shell(s, "chmod 601 tree/f0600"), 0);
	other = digest_of_tree(s, "tree");
	assert_string_not_equal(digest, other);
}

static void links_stay_as_they_are(void **state)
{
	const struct scratch *s = *state;
	autofree char *digest = NULL;

	assert_int_equal(scratch_shell(s, "mkdir -p tree/venv/bin; cd tree/venv/bin;"
					  "ln -s /usr/bin/python3 python; ln -s python python3;"
					  "ln -s ../../../outside out; ln -s nowhere dangling;"
					  "ln -s / root; ln -s . self"),
		0);
	digest = round_trip(s);
	assert_int_equal(
		scratch_shell(s, "[ $(readlink again/venv/bin/python) = /usr/bin/python3 ];"
				 "[ $(readlink again/venv/bin/out) = ../../../outside ]"),
		0);
}

static void entries_are_in_the_order_of_whole_paths(void **state)
{
	const struct scratch *s = *state;
	autofree char *digest = NULL;

	/* A hyphen and a dot sort before the slash, so siblings come between "a" and "a/x". */
	assert_int_equal(
		scratch_shell(s, "mkdir -p tree/a/b tree/a-b tree/a.d tree/a0; cd tree;"
				 "echo 1 >a/x; echo 2 >a.txt; echo 3 >a/b/c; echo 4 >a/b-c;"
				 "echo 5 >a-b/z; echo 6 >a.d/z; echo 7 >a0/z; echo 8 >'a b'"),
		0);
	digest = round_trip(s);
	assert_int_equal(
		scratch_shell(s,
			"h=${0#x}; cd store; f=$(find . -name '????*' -type f -size +9k | "
			"grep -v json); tar tf $f | sed 's,/$,,' >../got;"
			"cd ../tree; find . -mindepth 1 | cut -c3- | LC_ALL=C sort >../want;"
			"cmp ../got ../want"),
		0);
}

static void odd_names_come_back(void **state)
{
	const struct scratch *s = *state;
	autofree char *digest = NULL;

	assert_int_equal(
		scratch_shell(s, "mkdir tree; cd tree; echo 1 >\"$(printf 'a\\nb')\";"
				 "echo 2 >\"$(printf '\\377\\200')\"; echo 3 >' '; echo 4 >-;"
				 "echo 5 >'\\'; mkdir \"$(printf 'tab\\tx')\"; echo 6 >...;"
				 "echo 7 >\"$(printf 'u\\303\\244')\""),
		0);
	digest = round_trip(s);
}

static void long_names_come_back(void **state)
{
	const struct scratch *s = *state;
	autofree char *digest = NULL;

	/* Just what a header holds and one more, with and without a place to cut; and far more. */
	assert_int_equal(
		scratch_shell(s,
			"mkdir tree; cd tree; n=$(printf '%0100d' 0); m=$(printf "
			"'%0101d' 0);"
			"v=$(printf '%0255d' 0); p=$(printf '%0155d' 0); q=$(printf '%0156d' 0);"
			"echo 1 >$n; echo 2 >$m; echo 3 >$v; mkdir $p $q; echo 4 >$p/$n; echo 5 "
			">$q/$n; mkdir $p/$m $q/$m; ln -s $v long; ln -s \"$n\" just; ln -s \"$m\" "
			"over; v=d$(printf '%0250d' 0); for i in 1 2 3 4 5 6 7 8 9 10 11 12; do "
			"mkdir $v; cd $v; echo $i >$m; done"),
		0);
	digest = round_trip(s);
}

static void paths_longer_than_the_kernel_takes_come_back(void **state)
{
	const struct scratch *s = *state;
	autofree char *digest = NULL, *name = mem_alloc(251);
	int dir = scratch_dir(s, "tree");

	memset(name, 'd', 250);
	for (int i = 0; i < 40; i++) {
		int below;

		assert_int_equal(mkdirat(dir, name, 0750), 0);
		below = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(below >= 0);
		close(dir);
		dir = below;
	}
	assert_int_equal(symlinkat("target", dir, "link"), 0);
	close(openat(dir, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0640));
	close(dir);
	digest = round_trip(s);
}

static void a_tree_too_deep_is_refused(void **state)
{
	const struct scratch *s = *state;
	int dir = scratch_dir(s, "tree");

	for (int i = 0; i < SNAPSHOT_DEPTH_MAX + 1; i++) {
		int below;

		assert_int_equal(mkdirat(dir, "d", 0755), 0);
		below = openat(dir, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(dir);
		dir = below;
	}
	close(dir);
	assert_int_equal(refused(s, (struct snapshot_policy){0})->code, ERR_LIMIT);
}

static void long_maps_are_made_of_larger_blocks(void **state)
{
	enum { BLOCK = HOLES_BLOCK, MOST = 4, SIZE = 1 << 30 };
	static const unsigned at[] = {1, 3, 5, 7, 9, 11, 13, 1000, 5001};
	const struct scratch *s = *state;
	autofree char *path = scratch_path(s, "sparse");
	autoclose int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	autofree struct tar_piece *few = NULL, *many = NULL;
	size_t count = 0;
	struct error err;

	assert_int_equal(ftruncate(fd, SIZE), 0);
	for (size_t i = 0; i < ARRAY_LEN(at); i++)
		assert_int_equal(pwrite(fd, "x", 1, (off_t)at[i] * BLOCK), 1);
	assert_int_equal(holes_find(fd, SIZE, 1000, &many, &count, &err), 1);
	assert_int_equal(count, ARRAY_LEN(at) + 1);
	/* Of two blocks each the first seven are one piece; the huge holes stay holes. */
	assert_int_equal(holes_find(fd, SIZE, MOST, &few, &count, &err), 1);
	assert_int_equal(count, MOST);
	assert_int_equal(few[0].offset, 0);
	assert_int_equal(few[0].len, 14 * BLOCK);
	assert_int_equal(few[1].offset, 1000 * BLOCK);
	assert_int_equal(few[2].offset, 5000ll * BLOCK);
	assert_int_equal(few[2].len, 2 * BLOCK);
	assert_int_equal(few[3].offset, SIZE);
	assert_int_equal(few[3].len, 0);
}

static void holes_cost_nothing_and_are_no_difference(void **state)
{
	const struct scratch *s = *state;
	autofree char *sparse = NULL, *full = NULL, *digest = NULL;
	struct stat st;
	autofree char *path = NULL;

	assert_int_equal(
		scratch_shell(s, "mkdir a b; cd a; truncate -s 3M f; printf x | dd of=f bs=1 "
				 "seek=1500000 conv=notrunc status=none; truncate -s 2M g;"
				 "cp --sparse=never f ../b/f; cp --sparse=never g ../b/g"),
		0);
	sparse = digest_of_tree(s, "a");
	full = digest_of_tree(s, "b");
	assert_string_equal(sparse, full);
	assert_int_equal(
		scratch_shell(s, "mkdir tree; cd tree; truncate -s 1T huge; printf end | dd "
				 "of=huge bs=1 seek=700000000000 conv=notrunc status=none;"
				 "truncate -s 1048577 tail; printf y >>tail"),
		0);
	digest = round_trip(s);
	path = scratch_path(s, "again/huge");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 1ll << 40);
	assert_true(st.st_blocks < 1024);
	assert_int_equal(scratch_shell(s, "cmp tree/tail again/tail; [ \"$(tail -c +700000000001 "
					  "again/huge | head -c 3)\" = end ]"),
		0);
}

static void other_tars_read_a_file_with_holes(void **state)
{
	const struct scratch *s = *state;
	autofree char *digest = NULL;

	assert_int_equal(
		scratch_shell(s, "mkdir tree; cd tree; truncate -s 3M f; printf x | dd of=f "
				 "bs=1 seek=1500000 conv=notrunc status=none"),
		0);
	digest = round_trip(s);
	assert_int_equal(
		scratch_shell(s, "f=$(find store -name '????*' -type f -size +9k | grep -v "
				 "json); mkdir x; tar xf $f -C x; cmp x/f tree/f;"
				 "python3 -c \"import tarfile; tarfile.open('$f')."
				 "extractall('y')\"; cmp y/f tree/f"),
		0);
}

static void attributes_come_by_option(void **state)
{
	const struct scratch *s = *state;
	autofree char *with = NULL, *without = NULL, *bare = NULL, *path = NULL, *dir = NULL;
	char value[16] = "";

	assert_int_equal(scratch_shell(s, "mkdir -p tree/d; echo x >tree/f"), 0);
	path = scratch_path(s, "tree/f");
	bare = digest_of_tree(s, "tree");
	if (setxattr(path, "user.b", "1\n2", 3, 0) < 0)
		skip(); /* a file system without */
	dir = scratch_path(s, "tree/d");
	assert_int_equal(setxattr(path, "user.a", "", 0, 0), 0);
	assert_int_equal(setxattr(dir, "user.a", "d", 1, 0), 0);
	without = digest_of_tree(s, "tree");
	assert_string_equal(bare, without);
	with = round_trip_with(s, (struct snapshot_policy){.has_xattrs = true}, NULL);
	assert_string_not_equal(bare, with);
	free(path);
	path = scratch_path(s, "again/f");
	assert_int_equal(getxattr(path, "user.b", value, sizeof(value)), 3);
	assert_string_equal(value, "1\n2");
}

/* Where the file system has any; elsewhere both trees have none. */
static void add_attributes(const struct scratch *s)
{
	static const char *const names[] = {"tree/large", "tree/d", "tree/shut"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		autofree char *path = scratch_path(s, names[i]);

		(void)!setxattr(path, "user.mine", names[i], strlen(names[i]), 0);
	}
}

static void a_copy_is_what_a_thaw_would_make(void **state)
{
	const struct scratch *s = *state;
	struct snapshot_policy policy = {.has_xattrs = true};
	autofree char *first = NULL, *second = NULL, *special = NULL;
	autoclose int tree = -1, copy = -1;
	struct error err = {0};
	bool shared = false;

	assert_int_equal(
		scratch_shell(s,
			"mkdir tree copy; cd tree; mkdir -p e d/sub shut sticky; echo 1 "
			">d/f; ln d/f hard; ln -s /nowhere l; ln -s d m; chmod 0640 d/f; "
			"echo 2 >shut/g; chmod 4711 shut/g; chmod 0500 shut; chmod 1777 "
			"sticky; mkfifo d/q; truncate -s 3M holes; printf x >>holes; head -c "
			"700000 /dev/zero >large; touch -d @1000000000.25 large"),
		0);
	tree = scratch_dir(s, "tree");
	copy = scratch_dir(s, "copy");
	add_attributes(s);
	assert_int_equal(snapshot_copy(tree, &policy, copy, &shared, &special, &err), 0);
	assert_string_equal(special, "d/q\tfifo\n");
	first = digest_with(s, "tree", policy);
	policy.special = special;
	second = digest_with(s, "copy", policy);
	assert_string_equal(first, second);
	assert_int_equal(
		scratch_shell(s,
			"[ \"$(stat -c %y tree/large)\" = \"$(stat -c %y copy/large)\" ] && "
			"[ $(stat -c %b copy/holes) -lt 100 ] && [ ! copy/hard -ef copy/d/f "
			"] && echo new >copy/d/f && [ \"$(cat tree/d/f)\" = 1 ]; r=$?; chmod "
			"u+w tree/shut copy/shut; exit $r"),
		0);
}

static void special_files_are_told_and_told_again(void **state)
{
	const struct scratch *s = *state;
	autofree char *digest = NULL, *special = NULL, *without = NULL, *rest = NULL, *other = NULL;
	struct snapshot_policy policy = {0};
	struct stat st;
	autofree char *path = NULL;

	assert_int_equal(scratch_shell(s, "mkdir -p tree/d; cd tree; mkfifo pipe d/q; echo x >f;"
					  "mkfifo \"$(printf 't\\tn\\n\\\\')\""),
		0);
	digest = round_trip_with(s, policy, &special);
	assert_string_equal(special, "d/q\tfifo\npipe\tfifo\nt\\tn\\n\\\\\tfifo\n");
	path = scratch_path(s, "again/pipe");
	assert_int_equal(lstat(path, &st), -1);
	assert_int_equal(scratch_shell(s, "[ \"$(ls -A again)\" = \"$(printf 'd\\nf')\" ]"), 0);
	without = digest_of_tree(s, "again");
	assert_string_not_equal(digest, without);
	/* What has come to its place counts, and the rest is still told. */
	assert_int_equal(
		scratch_shell(s, "echo real >again/pipe; rmdir again/d; ln -s . again/d"), 0);
	policy.special = "d/q\tfifo\npipe\tfifo\n";
	rest = digest_with(s, "again", policy);
	policy.special = "d/q\tfifo\n";
	other = digest_with(s, "again", policy);
	assert_string_equal(rest, other);
	policy.special = "no tab\n";
	free(other);
	other = NULL;
	{
		autoclose int dir = scratch_dir(s, "again");
		char got[DIGEST_TEXT];
		struct error err = {0};

		assert_int_equal(snapshot_digest(dir, &policy, got, &err), -1);
		assert_int_equal(err.code, ERR_FORMAT);
	}
}

static void the_reserved_name_is_free_without_special_files(void **state)
{
	const struct scratch *s = *state;
	autofree char *digest = NULL, *special = NULL;

	assert_int_equal(scratch_shell(s, "mkdir tree; echo mine >tree/" SNAPSHOT_SPECIAL_NAME), 0);
	digest = round_trip_with(s, (struct snapshot_policy){0}, &special);
	assert_null(special);
	assert_int_equal(scratch_shell(s, "cmp tree/" SNAPSHOT_SPECIAL_NAME
					  " again/" SNAPSHOT_SPECIAL_NAME "; mkfifo tree/p"),
		0);
	assert_non_null(strstr(refused(s, (struct snapshot_policy){0})->msg, "reserved"));
}

static void git_is_kept_dropped_or_normalised(void **state)
{
	const struct scratch *s = *state;
	autofree char *keep = NULL, *drop = NULL, *normal = NULL, *plain = NULL, *later = NULL,
		      *later_keep = NULL;
	static const struct snapshot_policy normalise = {.git = SNAPSHOT_GIT_NORMALISE};

	assert_int_equal(
		scratch_shell(s,
			"export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE=@1700000000 "
			"GIT_COMMITTER_DATE=@1700000000 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b "
			"GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; mkdir tree plain; cd tree;"
			"git init -q -b main; echo x >f; mkdir d; echo y >d/g; git add .;"
			"git update-index --index-version 4; git commit -qm one; cp f ../plain/f;"
			"mkdir ../plain/d; cp d/g ../plain/d/g"),
		0);
	plain = digest_of_tree(s, "plain");
	keep = digest_of_tree(s, "tree");
	drop = digest_with(s, "tree", (struct snapshot_policy){.git = SNAPSHOT_GIT_DROP});
	assert_string_equal(plain, drop);
	normal = round_trip_with(s, normalise, NULL);
	assert_string_not_equal(keep, normal);
	assert_string_not_equal(drop, normal);
	/* git takes the index that came out, and finds nothing changed. */
	assert_int_equal(scratch_shell(s, "cd again; [ -z \"$(git -c safe.directory='*' status "
					  "--porcelain)\" ]; git -c safe.directory='*' fsck"),
		0);
	/* What git writes by looking, and when, is no difference. */
	assert_int_equal(scratch_shell(s, "cd tree; sleep 0.02; touch f; git -c safe.directory='*' "
					  "status >/dev/null; echo junk >.git/FETCH_HEAD; echo >"
					  ".git/refs/heads/x.lock; echo >.git/objects/tmp_obj_1"),
		0);
	later = digest_with(s, "tree", normalise);
	later_keep = digest_of_tree(s, "tree");
	assert_string_equal(normal, later);
	assert_string_not_equal(keep, later_keep);
	/* What is staged is one. */
	assert_int_equal(scratch_shell(s, "cd tree; echo more >f; git -c safe.directory='*' add f; "
					  "echo x >f"),
		0);
	free(later);
	later = digest_with(s, "tree", normalise);
	assert_string_not_equal(normal, later);
}

static void a_difference_to_an_earlier_one_is_stored_once(void **state)
{
	const struct scratch *s = *state;
	auto_cas struct cas *c = open_store(s);
	autoclose int tree = -1, again = -1;
	char first[DIGEST_TEXT], second[DIGEST_TEXT], third[DIGEST_TEXT], alone[DIGEST_TEXT];
	struct snapshot_policy policy = {0};
	struct error err = {0};
	char *special = NULL;

	assert_int_equal(
		scratch_shell(s, "mkdir tree; cd tree; i=0; while [ $i -lt 60 ]; do head -c "
				 "100000 /dev/urandom >f$i; i=$((i+1)); done"),
		0);
	tree = scratch_dir(s, "tree");
	assert_int_equal(snapshot_freeze(tree, &policy, c, first, &err), 0);
	assert_int_equal(
		scratch_shell(s, "cd tree; echo new >f7; rm f9; echo z >f60; chmod 600 f3"), 0);
	policy.base = first;
	assert_int_equal(snapshot_freeze(tree, &policy, c, second, &err), 0);
	policy.base = NULL;
	assert_int_equal(snapshot_digest(tree, &policy, alone, &err), 0);
	assert_string_equal(second, alone);
	assert_int_equal(cas_verify(c, second, NULL, NULL), CAS_INTACT);
	assert_int_equal(
		scratch_shell(s, "d=$(find store -name '*.delta'); [ $(stat -c %s $d) -lt 20000 ]"),
		0);
	/* One on top of that is a difference to the same plain one. */
	assert_int_equal(scratch_shell(s, "echo newer >tree/f8"), 0);
	policy.base = second;
	assert_int_equal(snapshot_freeze(tree, &policy, c, third, &err), 0);
	assert_int_equal(cas_verify(c, third, NULL, NULL), CAS_INTACT);
	again = scratch_dir(s, "again");
	if (snapshot_thaw(c, third, again, NULL, &special, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(scratch_shell(s, "diff -r tree again"), 0);
	/* gc keeps what they are made from. */
	{
		struct cas_gc gc = {0};

		assert_int_equal(cas_root_set(c, "third", third, &err), 0);
		cas_close(c);
		c = open_store(s);
		assert_int_equal(cas_gc(c, &gc, &err), 0);
		assert_int_equal(gc.kept_objects, 2);
		assert_int_equal(gc.removed_objects, 1);
		assert_int_equal(cas_verify(c, third, NULL, NULL), CAS_INTACT);
		assert_int_equal(cas_verify(c, second, NULL, NULL), CAS_ABSENT);
	}
	/* Without its other half it is there and cannot be read. */
	assert_int_equal(scratch_shell(s, "rm -f $(find store -name '????*' -size +5000k)"), 0);
	assert_int_equal(cas_verify(c, third, NULL, &err), CAS_UNREADABLE);
}

static void what_was_tampered_with_leaves_nothing(void **state)
{
	const struct scratch *s = *state;
	auto_cas struct cas *c = open_store(s);
	autoclose int tree = -1, again = scratch_dir(s, "again");
	static const struct snapshot_policy policy = {0};
	char digest[DIGEST_TEXT];
	struct error err = {0};
	char *special = NULL;

	assert_int_equal(
		scratch_shell(s, "mkdir -p tree/d; echo content >tree/d/f; echo z >tree/z"), 0);
	tree = scratch_dir(s, "tree");
	assert_int_equal(snapshot_freeze(tree, &policy, c, digest, &err), 0);
	/* In the data, in a header, at the end. */
	static const int places[] = {1030, 100, 9000};
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		autofree char *text = str_format(
			"f=$(find store -name '????*' -type f -size +9k); chmod u+w $f; cp $f keep;"
			"printf '\\101' | dd of=$f bs=1 seek=%d conv=notrunc status=none",
			places[i]);

		assert_int_equal(scratch_shell(s, text), 0);
		assert_int_equal(snapshot_thaw(c, digest, again, NULL, &special, &err), -1);
		assert_int_equal(err.code, ERR_TAMPERED);
		assert_int_equal(scratch_shell(s, "[ -z \"$(ls -A again)\" ]; f=$(find store -name "
						  "'????*' -type f -size +9k); cp keep $f"),
			0);
	}
	assert_int_equal(scratch_shell(s, "echo >again/there"), 0);
	assert_int_equal(snapshot_thaw(c, digest, again, NULL, &special, &err), -1);
	assert_int_equal(err.code, ERR_USAGE);
	assert_int_equal(scratch_shell(s, "rm again/there"), 0);
	assert_int_equal(snapshot_thaw(c, EMPTY, again, NULL, &special, &err), -1);
	assert_int_equal(err.code, ERR_MISSING);
	assert_int_equal(snapshot_thaw(c, digest, again, NULL, &special, &err), 0);
}

/* Puts what a script of Python makes with tarfile into the store and thaws it. */
static struct error thaw_of(const struct scratch *s, const char *script)
{
	auto_cas struct cas *c = open_store(s);
	autoclose int again = -1, fd = -1;
	autofree char *path = scratch_path(s, "made.tar"),
		      *text = str_format(
			      "rm -rf again; mkdir again; python3 - <<'E'\n"
			      "import tarfile, io\nt = tarfile.open('made.tar', 'w', "
			      "format=tarfile.USTAR_FORMAT)\n"
			      "def m(name, type=tarfile.REGTYPE, data=b'', link='', mode=0o644):\n"
			      " i = tarfile.TarInfo(name); i.type = type; i.size = len(data)\n"
			      " i.linkname = link; i.mode = mode; t.addfile(i, io.BytesIO(data))\n"
			      "%s\nt.close()\nE\n",
			      script);
	char digest[DIGEST_TEXT];
	struct error err = {0};
	char *special = NULL;

	assert_int_equal(scratch_shell(s, text), 0);
	again = scratch_dir(s, "again");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(cas_put_fd(c, fd, NULL, NULL, digest, &err), 0);
	if (snapshot_thaw(c, digest, again, NULL, &special, &err) == 0)
		err.code = ERR_NONE;
	free(special);
	return err;
}

static void hostile_images_stay_inside(void **state)
{
	const struct scratch *s = *state;
	static const char *const scripts[] = {
		"m('../out', data=b'x')",
		"m('/out', data=b'x')",
		"m('a/../../out', data=b'x')",
		"m('a', tarfile.SYMTYPE, link='/tmp')\nm('a/out', data=b'x')",
		"m('a', tarfile.SYMTYPE, link='..')\nm('a/out', data=b'x')",
		"m('a', data=b'1')\nm('a', data=b'2')",
		"m('b', data=b'1')\nm('a', data=b'2')",
		"m('a', tarfile.LNKTYPE, link='../../etc/passwd')",
		"m('a', tarfile.FIFOTYPE)",
		"m('a', tarfile.CHRTYPE)",
		"m('./a', data=b'1')",
		"m('a//b', data=b'1')",
	};

	assert_int_equal(thaw_of(s, "m('a', data=b'x')\nm('d', tarfile.DIRTYPE, mode=0o755)").code,
		ERR_NONE);
	for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
		struct error err = thaw_of(s, scripts[i]);

		if (err.code == ERR_NONE || err.code == ERR_TAMPERED)
			fail_msg("taken: %s", scripts[i]);
		assert_int_equal(scratch_shell(s, "[ ! -e out ] && [ -z \"$(ls -A again)\" ]"), 0);
	}
}

static void a_record_names_a_tree_and_holds_a_manifest(void **state)
{
	const struct scratch *s = *state;
	auto_cas struct cas *c = open_store(s);
	autoclose int tree = scratch_dir(s, "tree"), again = scratch_dir(s, "again");
	static const struct snapshot_policy policy = {0};
	char digest[DIGEST_TEXT], record[DIGEST_TEXT], found[DIGEST_TEXT];
	auto_json json_t *manifest = json_pack("{s:s,s:i}", "root", "/workspace", "timeout", 5);
	auto_json json_t *back = NULL;
	struct cas_gc gc = {0};
	struct error err = {0};
	char *special = NULL;

	assert_int_equal(snapshot_record_put(c, EMPTY, manifest, record, &err), -1);
	assert_int_equal(err.code, ERR_MISSING);
	assert_int_equal(snapshot_freeze(tree, &policy, c, digest, &err), 0);
	assert_int_equal(snapshot_record_put(c, digest, manifest, record, &err), 0);
	assert_int_equal(snapshot_record_find(c, record, found, &back, &err), 1);
	assert_string_equal(found, digest);
	assert_true(json_equal(back, manifest));
	json_cleanup(&back);
	assert_int_equal(snapshot_record_find(c, digest, found, &back, &err), 0);
	assert_string_equal(found, digest);
	assert_null(back);
	assert_int_equal(snapshot_thaw(c, record, again, NULL, &special, &err), 0);
	/* Its root keeps both. */
	assert_int_equal(cas_root_set(c, "one", record, &err), 0);
	cas_close(c);
	c = open_store(s);
	assert_int_equal(cas_gc(c, &gc, &err), 0);
	assert_int_equal(gc.kept_objects, 2);
	assert_int_equal(gc.removed_objects, 0);
}

static void a_mount_in_the_tree_is_refused(void **state)
{
	const struct scratch *s = *state;
	pid_t child;
	int status;

	assert_int_equal(scratch_shell(s, "mkdir -p tree/m"), 0);
	child = fork();
	if (child == 0) {
		autofree char *path = scratch_path(s, "tree/m");
		struct snapshot_policy policy = {0};
		char digest[DIGEST_TEXT];
		struct error err = {0};
		int dir;

		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ||
			mount("none", path, "tmpfs", 0, NULL) < 0)
			_exit(77);
		dir = scratch_dir(s, "tree");
		_exit(snapshot_digest(dir, &policy, digest, &err) == -1 &&
					err.code == ERR_UNSUPPORTED
				? 0
				: 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

/* Entries of 64 bytes that each have the long name of the first. */
static void an_index_that_grows_without_end_is_refused(void **state)
{
	enum { ENTRIES = 5000, NAME = 60000 };
	static const char head[12] = {
		'D', 'I', 'R', 'C', 0, 0, 0, 4, 0, 0, ENTRIES >> 8, (char)(ENTRIES & 0xff)};
	static const char entry[62] = {[60] = 0x0f, [61] = (char)0xff}, sum[20];
	auto_bytes struct bytes in = {0}, out = {0};
	struct error err;

	(void)state;
	bytes_put(&in, head, sizeof(head));
	for (int i = 0; i < ENTRIES; i++) {
		bytes_put(&in, entry, sizeof(entry));
		bytes_put_u8(&in, 0);
		for (int k = 0; i == 0 && k < NAME; k++)
			bytes_put_u8(&in, 'a');
		bytes_put_u8(&in, 0);
	}
	bytes_put(&in, sum, sizeof(sum));
	assert_int_equal(git_index_normalise(in.data, in.len, &out, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
	static const struct CMUnitTest tests[] = {
		CASE(golden_vectors),
		CASE(times_owners_and_links_to_a_file_do_not_count),
		CASE(every_mode_bit_counts_and_comes_back),
		CASE(links_stay_as_they_are),
		CASE(entries_are_in_the_order_of_whole_paths),
		CASE(odd_names_come_back),
		CASE(long_names_come_back),
		CASE(paths_longer_than_the_kernel_takes_come_back),
		CASE(a_tree_too_deep_is_refused),
		CASE(long_maps_are_made_of_larger_blocks),
		CASE(holes_cost_nothing_and_are_no_difference),
		CASE(other_tars_read_a_file_with_holes),
		CASE(attributes_come_by_option),
		CASE(a_copy_is_what_a_thaw_would_make),
		CASE(special_files_are_told_and_told_again),
		CASE(the_reserved_name_is_free_without_special_files),
		CASE(git_is_kept_dropped_or_normalised),
		CASE(a_difference_to_an_earlier_one_is_stored_once),
		CASE(what_was_tampered_with_leaves_nothing),
		CASE(hostile_images_stay_inside),
		CASE(a_record_names_a_tree_and_holds_a_manifest),
		CASE(a_mount_in_the_tree_is_refused),
		cmocka_unit_test(an_index_that_grows_without_end_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
