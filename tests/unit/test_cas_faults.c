/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer is killed, or a step of it fails, at every step there is, one after the other: what is
 * visible afterwards is whole, nothing is left over, and doing it again succeeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "cas/cas.h"
#include "cas/snapshot.h"
#include "scratch.h"

/* Bytes over which a child hashes and several writes happen. */
enum { LARGE = 6 << 20, STEPS_MAX = 4000 };

struct countdown {
	int left;
	bool kills;
};

static int count_down(void *context, const char *step)
{
	struct countdown *c = context;

	(void)step;
	if (--c->left > 0)
		return 0;
	if (c->left < 0)
		return 0;
	if (c->kills)
		kill(getpid(), SIGKILL);
	errno = ENOSPC;
	return -1;
}

static struct cas *store(const struct scratch *s)
{
	autofree char *path = scratch_path(s, "store");
	struct error err = {0};
	struct cas *c = NULL;

	if (cas_open(path, CAS_WRITE, &c, &err) < 0)
		fail_msg("%s", err.msg);
	return c;
}

/* What is done; 0, or -1 with err. Every one of them may be done again. */
typedef int work(const struct scratch *s, struct cas *c, struct error *err);

static int put_small(const struct scratch *s, struct cas *c, struct error *err)
{
	char digest[DIGEST_TEXT];

	(void)s;
	return cas_put(c, "small", 5, NULL, digest, err);
}

static int put_large(const struct scratch *s, struct cas *c, struct error *err)
{
	autofree char *data = mem_alloc(LARGE);
	char digest[DIGEST_TEXT];

	(void)s;
	memset(data, 'y', LARGE);
	return cas_put(c, data, LARGE, NULL, digest, err);
}

static int put_and_root(const struct scratch *s, struct cas *c, struct error *err)
{
	char digest[DIGEST_TEXT];

	(void)s;
	return cas_put(c, "rooted", 6, NULL, digest, err) < 0 ||
			       cas_root_set(c, "root", digest, err) < 0
		       ? -1
		       : 0;
}

static int freeze(const struct scratch *s, struct cas *c, struct error *err)
{
	static const struct snapshot_policy policy = {0};
	auto_json json_t *manifest = json_object();
	autoclose int tree = scratch_dir(s, "tree");
	char digest[DIGEST_TEXT], record[DIGEST_TEXT];

	return snapshot_freeze(tree, &policy, c, digest, err) < 0 ||
			       snapshot_record_put(c, digest, manifest, record, err) < 0 ||
			       cas_root_set(c, "tree", record, err) < 0
		       ? -1
		       : 0;
}

/* A first snapshot is there; the second is stored as a difference to it. */
static int freeze_again(const struct scratch *s, struct cas *c, struct error *err)
{
	struct snapshot_policy policy = {0};
	autoclose int tree = scratch_dir(s, "tree"), more = scratch_dir(s, "more");
	char digest[DIGEST_TEXT], second[DIGEST_TEXT];

	if (snapshot_digest(tree, &policy, digest, err) < 0)
		return -1;
	policy.base = digest;
	return snapshot_freeze(more, &policy, c, second, err);
}

static int collect(const struct scratch *s, struct cas *c, struct error *err)
{
	struct cas_gc gc = {0};

	(void)s;
	return cas_gc(c, &gc, err);
}

static int check_entry(void *context, const struct cas_entry *e, struct error *err)
{
	enum cas_state st = cas_verify(context, e->digest, NULL, err);

	return st == CAS_INTACT ? 0 : error_wrap(err, "%s is %s", e->digest, cas_state_names[st]);
}

/* Everything visible is whole, nothing is in tmp or pins, and no root leads nowhere. */
static void check(const struct scratch *s, int step)
{
	auto_cas struct cas *c = store(s);
	autofree struct cas_root *roots = NULL;
	struct error err = {0};
	size_t count;

	if (cas_list(c, check_entry, c, &err) < 0)
		fail_msg("after step %d: %s", step, err.msg);
	if (cas_roots(c, &roots, &count, &err) < 0)
		fail_msg("after step %d: %s", step, err.msg);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(cas_verify(c, roots[i].digest, NULL, NULL), CAS_INTACT);
	if (scratch_shell(s, "[ -z \"$(find store/tmp store/pins -type f)\" ]") != 0)
		fail_msg("after step %d something is left", step);
}

static int run_once(const struct scratch *s, work *w)
{
	auto_cas struct cas *c = store(s);
	struct error err = {0};

	return w(s, c, &err);
}

/* Ends with the number of steps there were. before: shell text that makes the state to begin from.
 */
static int walk(const struct scratch *s, const char *before, work *prepare, work *w, bool kills)
{
	for (int step = 1; step < STEPS_MAX; step++) {
		struct countdown countdown = {step, kills};
		int status;
		pid_t child;

		assert_int_equal(scratch_shell(s, before), 0);
		if (prepare)
			assert_int_equal(run_once(s, prepare), 0);
		child = fork();
		if (child == 0) {
			autofree char *path = scratch_path(s, "store");
			struct error err = {0};
			struct cas *c;
			int r;

			fault_watch(count_down, &countdown);
			r = cas_open(path, CAS_WRITE, &c, &err);
			if (r == 0) {
				r = w(s, c, &err);
				cas_close(c);
			}
			if (countdown.left > 0)
				_exit(r == 0 ? 0 : 3); /* it was over before that step */
			/* A step whose failure harms nobody may be passed over. */
			_exit(r < 0 && err.sys != ENOSPC ? 2 : 1);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			return step - 1;
		if (kills ? !WIFSIGNALED(status) : !WIFEXITED(status) || WEXITSTATUS(status) != 1)
			fail_msg("step %d: wait status %#x", step, (unsigned)status);
		check(s, step);
		if (run_once(s, w) < 0)
			fail_msg("after step %d it cannot be done again", step);
		check(s, step);
	}
	return -1;
}

static void both(const struct scratch *s, const char *before, work *prepare, work *w, int least)
{
	int killed = walk(s, before, prepare, w, true);
	int failed = walk(s, before, prepare, w, false);

	assert_int_equal(killed, failed);
	assert_true(killed >= least);
}

static void a_put_at_every_step(void **state)
{
	both(*state, "rm -rf store", NULL, put_small, 10);
}

static void a_large_put_at_every_step(void **state)
{
	both(*state, "rm -rf store", NULL, put_large, 30);
}

static void a_duplicate_at_every_step(void **state)
{
	both(*state, "rm -rf store", put_small, put_small, 6);
}

static void a_root_at_every_step(void **state)
{
	both(*state, "rm -rf store", NULL, put_and_root, 16);
}

static void a_snapshot_at_every_step(void **state)
{
	/* The same bytes each time: two objects whose digests begin alike share a directory, and
	   to make it is a step. */
	both(*state,
		"rm -rf store tree; mkdir -p tree/d; [ -e bytes ] || head -c 700000 /dev/urandom "
		">bytes;"
		"cp bytes tree/d/f",
		NULL, freeze, 25);
}

static void a_snapshot_as_a_difference_at_every_step(void **state)
{
	both(*state,
		"rm -rf store tree more; mkdir -p tree/d; head -c 100000 /dev/zero >tree/f;"
		"cp -r tree more; echo x >more/new",
		freeze, freeze_again, 10);
}

static void a_gc_at_every_step(void **state)
{
	both(*state, "rm -rf store tree; mkdir -p tree/d; echo x >tree/d/f", put_small, collect, 3);
}

/* What is extracted half-way is the caller's to remove when he lives, and ours when we do. */
static void a_thaw_that_fails_leaves_an_empty_directory(void **state)
{
	const struct scratch *s = *state;
	static const struct snapshot_policy policy = {0};
	char digest[DIGEST_TEXT];
	struct error err = {0};
	int step = 0, r = -1;

	assert_int_equal(scratch_shell(s, "mkdir -p tree/a/b tree/c; echo x >tree/a/b/f; chmod 500 "
					  "tree/a/b; echo y >tree/z; chmod 2755 tree/c"),
		0);
	{
		auto_cas struct cas *c = store(s);
		autoclose int tree = scratch_dir(s, "tree");

		assert_int_equal(snapshot_freeze(tree, &policy, c, digest, &err), 0);
	}
	while (r < 0) {
		auto_cas struct cas *c = store(s);
		autoclose int again = scratch_dir(s, "again");
		struct countdown countdown = {++step, false};
		char *special = NULL;

		fault_watch(count_down, &countdown);
		r = snapshot_thaw(c, digest, again, NULL, &special, &err);
		fault_watch(NULL, NULL);
		if (r < 0)
			assert_int_equal(scratch_shell(s, "[ -z \"$(ls -A again)\" ]"), 0);
	}
	assert_int_equal(step, 6); /* five entries, then none failed */
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
	static const struct CMUnitTest tests[] = {
		CASE(a_put_at_every_step),
		CASE(a_large_put_at_every_step),
		CASE(a_duplicate_at_every_step),
		CASE(a_root_at_every_step),
		CASE(a_snapshot_at_every_step),
		CASE(a_snapshot_as_a_difference_at_every_step),
		CASE(a_gc_at_every_step),
		CASE(a_thaw_that_fails_leaves_an_empty_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
