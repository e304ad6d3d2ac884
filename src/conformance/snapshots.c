/* SPDX-License-Identifier: Apache-2.0 */
/* The suite's tests of snapshots and forks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "conformance/tests.h"

static const struct snapshot_policy plain = {.git = SNAPSHOT_GIT_KEEP};

static bool freeze(struct test *t, struct session *s, char ret[DIGEST_TEXT])
{
	struct error err = {0};

	return session_snapshot(s, &plain, ret, &err) == 0 || test_fail(t, "snapshot: %s", err.msg);
}

/* A session from the snapshot; test_end_other ends it. */
static bool resume(
	struct test *t, const char *digest, char ret_id[SESSION_ID_SIZE], struct session **ret)
{
	struct error err = {0};

	*ret = NULL;
	if (session_resume(t->store, digest, t->backend, 0, ret_id, &err) < 0)
		return test_fail(t, "resume: %s", err.msg);
	return session_open(t->store, ret_id, ret, &err) == 0 || test_fail(t, "open: %s", err.msg);
}

/* Makes a tree, and demands that freezing what thawing made gives the same digest. */
static void is_identity(struct test *t, const char *script)
{
	char one[DIGEST_TEXT], two[DIGEST_TEXT], id[SESSION_ID_SIZE];
	struct session *again;
	auto_ran struct ran r = {0};

	if (!test_sh(t, script, &r) || !freeze(t, t->session, one) || !resume(t, one, id, &again))
		return;
	if (freeze(t, again, two))
		test_expect(t, strcmp(one, two) == 0, "frozen %s, thawed and frozen again %s", one,
			two);
	test_end_other(t, id, again);
}

static void a_file_survives(struct test *t)
{
	char digest[DIGEST_TEXT], id[SESSION_ID_SIZE];
	struct session *again, *own = t->session;

	if (!test_write(t, "d/f", "captured") || !freeze(t, t->session, digest) ||
		!resume(t, digest, id, &again))
		return;
	t->session = again;
	test_holds(t, "d/f", "captured");
	t->session = own;
	test_end_other(t, id, again);
}

static void a_snapshot_outlives_its_session(struct test *t)
{
	char digest[DIGEST_TEXT], id[SESSION_ID_SIZE];
	struct session *again, *own = t->session;
	struct error err = {0};

	if (!test_write(t, "f", "captured") || !freeze(t, t->session, digest))
		return;
	if (session_destroy(t->store, t->id, &err) < 0)
		test_fail(t, "destroy: %s", err.msg);
	if (!resume(t, digest, id, &again))
		return;
	t->session = again;
	test_holds(t, "f", "captured");
	t->session = own;
	test_end_other(t, id, again);
}

static void a_snapshot_resumes_twice(struct test *t)
{
	char digest[DIGEST_TEXT], a[SESSION_ID_SIZE], b[SESSION_ID_SIZE];
	struct session *one, *two, *own = t->session;

	if (!test_write(t, "f", "1") || !freeze(t, t->session, digest) ||
		!resume(t, digest, a, &one))
		return;
	if (resume(t, digest, b, &two)) {
		t->session = one;
		test_write(t, "f", "changed");
		t->session = two;
		test_holds(t, "f", "1");
		t->session = own;
		test_holds(t, "f", "1");
		test_end_other(t, b, two);
	}
	test_end_other(t, a, one);
}

static void equal_trees_have_one_digest(struct test *t)
{
	char one[DIGEST_TEXT], two[DIGEST_TEXT], id[SESSION_ID_SIZE];
	static const char script[] =
		"umask 022; mkdir -p b a; echo 1 > b/f; echo 2 > a/g; ln -s b l; chmod 700 a";
	struct session *other, *own = t->session;
	auto_ran struct ran r = {0}, s = {0};

	if (!test_sh(t, script, &r) || !freeze(t, t->session, one) ||
		!test_other(t, NULL, id, &other))
		return;
	t->session = other;
	/* Made in another order, at another time, by another umask. */
	if (test_sh(t,
		    "sleep 1; umask 077; ln -s b l; mkdir -p a b; echo 2 > a/g; echo 1 > b/f; "
		    "chmod 755 b; chmod 644 a/g b/f",
		    &s) &&
		freeze(t, other, two))
		test_expect(t, strcmp(one, two) == 0, "%s and %s", one, two);
	t->session = own;
	test_end_other(t, id, other);
}

static void any_change_has_another_digest(struct test *t)
{
	static const char *const changes[] = {"echo 2 > f", "chmod 600 f", "touch g",
		"rm g; mkdir g", "ln -s f h", "rm h; ln -s g h", "chmod 700 g"};
	char last[DIGEST_TEXT], now[DIGEST_TEXT];

	if (!test_write(t, "f", "1") || !freeze(t, t->session, last))
		return;
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		auto_ran struct ran r = {0};

		if (!test_sh(t, changes[i], &r) || !freeze(t, t->session, now))
			return;
		test_expect(t, strcmp(last, now) != 0, "'%s' changed nothing", changes[i]);
		memcpy(last, now, sizeof(last));
	}
}

static void times_and_reads_do_not_count(struct test *t)
{
	char one[DIGEST_TEXT], two[DIGEST_TEXT];
	auto_ran struct ran r = {0};

	if (test_write(t, "d/f", "1") && freeze(t, t->session, one) &&
		test_sh(t, "touch -d 2001-01-01 d/f d; cat d/f; touch x; rm x", &r) &&
		freeze(t, t->session, two))
		test_expect(t, strcmp(one, two) == 0, "%s and %s", one, two);
}

static void identity_of_modes(struct test *t)
{
	is_identity(t, "for m in 400 444 600 640 644 664 666 700 755 775 777 1755 2755; do echo $m "
		       "> f$m; chmod $m f$m; "
		       "mkdir d$m; touch d$m/in; chmod $m d$m; done; chmod u+rwx d*");
}

static void identity_of_links(struct test *t)
{
	is_identity(t,
		"mkdir -p venv/bin; ln -s /usr/bin/python3 venv/bin/python3; ln -s python3 "
		"venv/bin/python; ln -s nowhere dangling; "
		"ln -s ../../../../etc far; ln -s /workspace/venv whole; echo 1 > a; ln a b");
}

static void identity_of_empty_directories(struct test *t)
{
	is_identity(t, "mkdir -p a/b/c d .e; touch a/b/empty");
}

static void identity_of_nothing(struct test *t)
{
	is_identity(t, "true");
}

static void identity_of_long_and_odd_names(struct test *t)
{
	is_identity(t,
		"n=$(printf '%0200d' 7); mkdir -p $n/$n; echo 1 > $n/$n/$n; ln -s $n/$n/$n$n l; "
		"touch 'with space' \"$(printf 'new\\nline')\" \"$(printf 'nul\\377byte')\" "
		"./-dash");
}

static void identity_of_special_files(struct test *t)
{
	is_identity(t, "mkfifo p; mkdir d; mkfifo d/q; touch f");
}

static void identity_of_a_sparse_file(struct test *t)
{
	is_identity(t, "truncate -s 20M s; printf x | dd of=s bs=1 seek=10000000 conv=notrunc "
		       "2>/dev/null");
}

static void special_files_are_kept_in_mind(struct test *t)
{
	char digest[DIGEST_TEXT], id[SESSION_ID_SIZE];
	struct session *again, *own = t->session;
	auto_ran struct ran r = {0}, s = {0};

	if (!test_sh(t, "mkfifo p; touch f", &r) || !freeze(t, t->session, digest) ||
		!resume(t, digest, id, &again))
		return;
	t->session = again;
	/* Neither the fifo nor the list of it. */
	if (test_sh(t, "ls -A | tr '\\n' ' '", &s))
		test_is_text(t, &s.out, "f ");
	t->session = own;
	test_end_other(t, id, again);
}

static void the_manifest_travels(struct test *t)
{
	char digest[DIGEST_TEXT], id[SESSION_ID_SIZE];
	struct session *again, *own = t->session;
	auto_ran struct ran r = {0};

	if (!test_write(t, "/srv/w/f", "1") || !freeze(t, t->session, digest) ||
		!resume(t, digest, id, &again))
		return;
	t->session = again;
	if (test_sh(t, "cat f; echo $KEPT", &r) && test_is_text(t, &r.out, "1yes\n"))
		test_expect(t,
			session_manifest(again)->timeout_seconds == 77 &&
				strcmp(session_manifest(again)->root, "/srv/w") == 0,
			"root %s, time-out %llu", session_manifest(again)->root,
			(unsigned long long)session_manifest(again)->timeout_seconds);
	t->session = own;
	test_end_other(t, id, again);
}

static void an_unknown_snapshot_is_missing(struct test *t)
{
	char id[SESSION_ID_SIZE];
	struct error err = {0};

	test_failed_with(t,
		session_resume(t->store,
			"sha256:0000000000000000000000000000000000000000000000000000000000000000",
			t->backend, 0, id, &err),
		&err, ERR_MISSING, "resuming what is not there");
	test_failed_with(t, session_resume(t->store, "nonsense", t->backend, 0, id, &err), &err,
		ERR_USAGE, "resuming nonsense");
}

static void a_fork_freezes_alike_and_outlives_its_parent(struct test *t)
{
	struct snapshot_policy policy = {.git = SNAPSHOT_GIT_KEEP};
	char ids[1][SESSION_ID_SIZE], first[DIGEST_TEXT], second[DIGEST_TEXT];
	struct session *fork = NULL, *own = t->session;
	auto_ran struct ran r = {0};
	struct error err = {0};

	if (!test_sh(t,
		    "mkdir -p d/e shut; echo 1 > d/f; chmod 0640 d/f; ln -s /workspace/d l; ln d/f "
		    "g; echo 2 > shut/h; chmod 0500 shut; mkfifo q; truncate -s 2M holes",
		    &r))
		return;
	if (session_fork(t->session, 1, 0, ids, &err) < 0) {
		test_fail(t, "fork: %s", err.msg);
		return;
	}
	if (session_snapshot(t->session, &policy, first, &err) < 0 ||
		session_destroy(t->store, t->id, &err) < 0 ||
		session_open(t->store, ids[0], &fork, &err) < 0 ||
		session_snapshot(fork, &policy, second, &err) < 0) {
		test_fail(t, "%s", err.msg);
	} else {
		test_expect(t, strcmp(first, second) == 0, "the fork's digest is another");
		test_expect(t,
			strcmp(session_record(fork)->parent, t->id) == 0 &&
				session_record(fork)->made[0],
			"the fork does not tell where it is from");
		t->session = fork;
		test_holds(t, "d/f", "1\n");
		t->session = own;
	}
	test_end_other(t, ids[0], fork);
}

/* Owned by whoever runs the session, in every backend: nobody else may have to read them. */
static void what_its_owner_may_not_read_is_frozen(struct test *t)
{
	struct snapshot_policy policy = {.git = SNAPSHOT_GIT_KEEP};
	char ids[1][SESSION_ID_SIZE], first[DIGEST_TEXT], second[DIGEST_TEXT];
	struct session *fork = NULL;
	auto_ran struct ran r = {0};
	struct error err = {0};

	if (!test_sh(t, "mkdir d; echo 1 > d/f; echo 2 > g; ln -s f d/l; chmod 0 d/f g; chmod 0 d",
		    &r))
		return;
	if (session_fork(t->session, 1, 0, ids, &err) < 0) {
		test_fail(t, "fork: %s", err.msg);
		return;
	}
	if (session_open(t->store, ids[0], &fork, &err) < 0 ||
		session_snapshot(t->session, &policy, first, &err) < 0 ||
		session_snapshot(fork, &policy, second, &err) < 0)
		test_fail(t, "%s", err.msg);
	else
		test_expect(t, strcmp(first, second) == 0, "the fork's digest is another");
	test_end_other(t, ids[0], fork);
}

static void forks_are_apart(struct test *t)
{
	enum { COUNT = 3 };
	char ids[COUNT][SESSION_ID_SIZE];
	struct session *s[COUNT] = {0}, *own = t->session;
	struct error err = {0};

	if (!test_write(t, "f", "base"))
		return;
	if (session_fork(t->session, COUNT, 0, ids, &err) < 0) {
		test_fail(t, "fork: %s", err.msg);
		return;
	}
	for (int i = 0; i < COUNT; i++) {
		char text[16];

		snprintf(text, sizeof(text), "of %d", i);
		if (session_open(t->store, ids[i], &s[i], &err) < 0) {
			test_fail(t, "open: %s", err.msg);
			break;
		}
		t->session = s[i];
		if (!test_holds(t, "f", "base") || !test_write(t, "f", text) ||
			!test_write(t, text, "new"))
			break;
	}
	t->session = own;
	test_holds(t, "f", "base");
	for (int i = 0; i < COUNT; i++) {
		test_expect(t,
			strcmp(ids[i], t->id) != 0 && strcmp(ids[i], ids[(i + 1) % COUNT]) != 0,
			"one id twice");
		test_end_other(t, ids[i], s[i]);
	}
}

#define ROW(function) \
	{ \
#function, function, SANDBOX_SNAPSHOT, NULL \
	}
const struct test_row test_rows_snapshots[] = {
	ROW(a_file_survives),
	ROW(a_snapshot_outlives_its_session),
	ROW(a_snapshot_resumes_twice),
	ROW(equal_trees_have_one_digest),
	ROW(any_change_has_another_digest),
	ROW(times_and_reads_do_not_count),
	ROW(identity_of_modes),
	ROW(identity_of_links),
	ROW(identity_of_empty_directories),
	ROW(identity_of_nothing),
	ROW(identity_of_long_and_odd_names),
	ROW(identity_of_special_files),
	ROW(identity_of_a_sparse_file),
	ROW(special_files_are_kept_in_mind),
	{"the_manifest_travels", the_manifest_travels, SANDBOX_SNAPSHOT,
		"{\"root\":\"/srv/w\",\"env\":{\"KEPT\":\"yes\"},\"timeout_seconds\":77}"},
	ROW(an_unknown_snapshot_is_missing),
	ROW(a_fork_freezes_alike_and_outlives_its_parent),
	ROW(what_its_owner_may_not_read_is_frozen),
	ROW(forks_are_apart),
	{0},
};
