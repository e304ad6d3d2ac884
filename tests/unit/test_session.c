/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions whose makers and enders are killed between any two steps, or whose steps fail. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/beneath.h"
#include "base/fault.h"
#include "base/mem.h"
#include "base/remove.h"
#include "session/session.h"

enum { STEPS_MAX = 400 };

static char home[64];
/* Of the sessions that are forked and written. */
static const char plain[] = "{\"files\":[{\"path\":\"d/f\",\"content\":\"x\"}]}";
static const char layered[] = "{\"files\":[{\"path\":\"d/f\",\"content\":\"x\"}],"
			      "\"options\":{\"fork\":\"overlay\"}}";
static const char *manifest_text = plain;

static int make_home(void **state)
{
	(void)state;
	snprintf(home, sizeof(home), "/tmp/sandglass-unit.XXXXXX");
	if (!mkdtemp(home))
		return -1;
	return setenv("SANDGLASS_HOME", home, 1);
}

static int remove_home(void **state)
{
	struct error err;

	(void)state;
	return remove_tree(-100 /* AT_FDCWD */, home, &err) == 1 ? 0 : -1;
}

/* What happens at the n-th step. */
struct fault {
	int at, seen;
	bool kills; /* else it fails with ENOSPC */
};

static int on_step(void *context, const char *step)
{
	struct fault *f = context;

	(void)step;
	if (f->seen++ != f->at)
		return 0;
	if (f->kills)
		raise(SIGKILL);
	errno = ENOSPC;
	return -1;
}

typedef int verb(struct session_store *s, const char *id, struct error *err);

static int create_one(struct session_store *s, const char *id, struct error *err)
{
	auto_manifest struct manifest m = {0};
	char made[SESSION_ID_SIZE];

	(void)id;
	if (manifest_parse(plain, strlen(plain), "/", &m, err) < 0)
		return -1;
	return session_create(s, "native", &m, 0, made, err);
}

static int snapshot_one(struct session_store *s, const char *id, struct error *err)
{
	auto_session struct session *one = NULL;
	char digest[DIGEST_TEXT];

	return session_open(s, id, &one, err) < 0
		       ? -1
		       : session_snapshot(one, &(struct snapshot_policy){.git = SNAPSHOT_GIT_KEEP},
				 digest, err);
}

static int fork_one(struct session_store *s, const char *id, struct error *err)
{
	auto_session struct session *one = NULL;
	char ids[3][SESSION_ID_SIZE];

	/* In layers each further fork is the last step of the first again. */
	return session_open(s, id, &one, err) < 0
		       ? -1
		       : session_fork(one, manifest_text == layered ? 1 : 3, 0, ids, err);
}

/* A file over one that is there, and a new one. */
static int write_two(struct session_store *s, const char *id, struct error *err)
{
	auto_session struct session *one = NULL;

	return session_open(s, id, &one, err) < 0 ||
			       session_write(one, "d/f", "x", 1, 0644, err) < 0 ||
			       session_write(one, "d/g", "x", 1, 0644, err) < 0
		       ? -1
		       : 0;
}

/* The verb in a process of its own with a fault at this step: 0 done, 1 failed, 2 killed. */
static int in_a_process(verb *v, const char *id, int step, bool kills)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		auto_session_store struct session_store *s = NULL;
		struct fault f = {.at = step, .kills = kills};
		struct error err = {0};

		fault_watch(on_step, &f);
		if (session_store_open(&s, &err) < 0)
			_exit(3);
		_exit(v(s, id, &err) < 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status)) {
		assert_int_equal(WTERMSIG(status), SIGKILL);
		return 2;
	}
	assert_in_range(WEXITSTATUS(status), 0, 1);
	return WEXITSTATUS(status);
}

/* Nothing but what somebody asked for, however many writers were killed. */
static int check_names(const struct sandbox_names *top, const struct sandbox_names *names)
{
	assert_int_equal(top->count, 1);
	assert_string_equal(top->items[0], "d");
	assert_in_range(names->count, 1, 2);
	for (size_t i = 0; i < names->count; i++)
		assert_string_equal(names->items[i], i ? "g" : "f");
	return 0;
}

static int check_whole(void *arg, const struct session_record *r, struct error *err)
{
	auto_session_store struct session_store *s = NULL;
	auto_sandbox_names struct sandbox_names top = {0}, names = {0};
	auto_session struct session *one = NULL;
	autofree char *data = NULL;
	size_t len;

	++*(size_t *)arg;
	if (session_store_open(&s, err) < 0 || session_open(s, r->id, &one, err) < 0 ||
		session_read(one, "d/f", 100, &data, &len, err) < 0)
		return -1;
	assert_string_equal(data, "x");
	return session_ls(one, ".", &top, err) < 0 || session_ls(one, "d", &names, err) < 0
		       ? -1
		       : check_names(&top, &names);
}

/* Every session that is listed is whole; how many there are. */
static size_t whole(struct session_store *s)
{
	struct error err = {0};
	size_t count = 0;

	if (session_list(s, false, check_whole, &count, &err) < 0)
		fail_msg("%s", err.msg);
	return count;
}

static void sweep(struct session_store *s)
{
	struct session_gc gc = {0}, again = {.is_dry = true};
	struct error err = {0};

	if (session_gc(s, &gc, &err) < 0 || session_gc(s, &again, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(again.half_made, 0);
}

static int destroy_it(void *arg, const struct session_record *r, struct error *err)
{
	return session_destroy(arg, r->id, err);
}

/*
 * Walks the verb's steps until it gets through. After each fault nothing half made is seen, and a
 * sweep leaves nothing of it. *ret_id: a session that each round begins with.
 */
static void walk(verb *v, bool kills)
{
	auto_session_store struct session_store *s = NULL;
	struct error err = {0};
	int step, ended = 2;

	assert_int_equal(session_store_open(&s, &err), 0);
	for (step = 0; step < STEPS_MAX && ended != 0; step++) {
		auto_manifest struct manifest m = {0};
		char id[SESSION_ID_SIZE];
		size_t before, after;

		assert_int_equal(
			manifest_parse(manifest_text, strlen(manifest_text), "/", &m, &err), 0);
		if (session_create(s, "native", &m, 0, id, &err) < 0)
			fail_msg("%s", err.msg);
		before = whole(s);
		ended = in_a_process(v, id, step, kills);
		after = whole(s);
		sweep(s);
		assert_int_equal(whole(s), after);
		if (v == session_destroy)
			assert_true(after == before || after == before - 1);
		else if (v == fork_one)
			assert_true(after >= before && after <= before + 3);
		else
			assert_true(after == before || (v == create_one && after == before + 1));
		/* A failure, unlike a kill, takes back what it began. */
		if (ended == 1 && v != session_destroy)
			assert_int_equal(after, before);
		if (session_list(s, false, destroy_it, s, &err) < 0)
			fail_msg("%s", err.msg);
	}
	assert_int_equal(ended, 0);
	assert_true(step > (v == write_two ? 1 : 5));
}

static void killed_creates_leave_nothing(void **state)
{
	(void)state;
	walk(create_one, true);
}

static void failed_creates_leave_nothing(void **state)
{
	(void)state;
	walk(create_one, false);
}

static void killed_destroys_can_be_done_again(void **state)
{
	(void)state;
	walk(session_destroy, true);
}

static void failed_destroys_can_be_done_again(void **state)
{
	(void)state;
	walk(session_destroy, false);
}

static void killed_snapshots_hurt_nobody(void **state)
{
	(void)state;
	walk(snapshot_one, true);
}

static void failed_snapshots_hurt_nobody(void **state)
{
	(void)state;
	walk(snapshot_one, false);
}

static void killed_forks_leave_whole_ones(void **state)
{
	(void)state;
	walk(fork_one, true);
}

static void failed_forks_leave_none(void **state)
{
	(void)state;
	walk(fork_one, false);
}

/* No layer is there that no session needs. */
static void check_no_layers(void)
{
	auto_names struct beneath_names names = {0};
	char path[128];
	struct error err = {0};
	int dir;

	snprintf(path, sizeof(path), "%s/state/sessions/layers", home);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(dir >= 0);
	assert_int_equal(beneath_list(dir, 1000, &names, &err), 0);
	assert_int_equal(names.count, 0);
	close(dir);
}

/* Where layers cannot be laid these are copies once more. */
static void killed_forks_in_layers_leave_whole_ones(void **state)
{
	(void)state;
	manifest_text = layered;
	walk(fork_one, true);
	manifest_text = plain;
	check_no_layers();
}

static void failed_forks_in_layers_leave_none(void **state)
{
	(void)state;
	manifest_text = layered;
	walk(fork_one, false);
	manifest_text = plain;
	check_no_layers();
}

static void killed_writes_are_never_seen(void **state)
{
	(void)state;
	walk(write_two, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(killed_creates_leave_nothing),
		cmocka_unit_test(failed_creates_leave_nothing),
		cmocka_unit_test(killed_destroys_can_be_done_again),
		cmocka_unit_test(failed_destroys_can_be_done_again),
		cmocka_unit_test(killed_snapshots_hurt_nobody),
		cmocka_unit_test(failed_snapshots_hurt_nobody),
		cmocka_unit_test(killed_forks_leave_whole_ones),
		cmocka_unit_test(failed_forks_leave_none),
		cmocka_unit_test(killed_forks_in_layers_leave_whole_ones),
		cmocka_unit_test(failed_forks_in_layers_leave_none),
		cmocka_unit_test(killed_writes_are_never_seen),
	};

	return cmocka_run_group_tests(tests, make_home, remove_home);
}
