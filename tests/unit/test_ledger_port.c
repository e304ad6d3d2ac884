/* SPDX-License-Identifier: Apache-2.0 */
/* A run lent to another process: what it reads, what it may append, what it cannot do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/mem.h"
#include "ledger/port.h"
#include "scratch.h"

struct lent {
	struct ledger *ledger;
	char parent[LEDGER_ULID], fork[LEDGER_ULID];
	struct ledger_port *port;
	pid_t borrower;
};

static void must_do(int r, const struct error *err)
{
	if (r < 0)
		fail_msg("%s", err->msg);
}

static void append(struct ledger *l, const char *run, int count)
{
	auto_ledger_writer struct ledger_writer *w = NULL;
	struct ledger_new e = {.type = "old", .payload = "{\"a\":1}", .payload_len = 7};
	struct error err = {0};

	must_do(ledger_writer_open(l, run, &w, &err), &err);
	for (int i = 0; i < count; i++)
		must_do(ledger_append(w, &e, 1, false, &err), &err);
}

/* A fork after the 3rd of 5 events, lent to a process that does `borrow`. */
static void lend(struct lent *n, const struct scratch *s, struct ledger_port_limits limits,
	int (*borrow)(int fd))
{
	autofree char *path = scratch_path(s, "ledger");
	struct error err = {0};
	int fd;

	must_do(ledger_open(path, LEDGER_MAKE, 0, &n->ledger, &err), &err);
	must_do(ledger_run_new(n->ledger, NULL, "goal", n->parent, &err), &err);
	append(n->ledger, n->parent, 5);
	must_do(ledger_fork(n->ledger, n->parent, "evt_003", NULL, n->fork, &err), &err);
	must_do(ledger_port_open(n->ledger, n->fork, &limits, &n->port, &fd, &err), &err);
	n->borrower = fork();
	if (n->borrower == 0)
		_exit(borrow(fd));
	close(fd);
	while (ledger_port_fd(n->port) >= 0) {
		struct pollfd p = {ledger_port_fd(n->port), ledger_port_wants(n->port), 0};

		assert_int_equal(poll(&p, 1, 20000), 1);
		must_do(ledger_port_step(n->port, &err), &err);
	}
}

static int status_of(const struct lent *n)
{
	int status;

	assert_int_equal(waitpid(n->borrower, &status, 0), n->borrower);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static uint64_t count_of(const struct lent *n, const char *run)
{
	struct error err = {0};
	uint64_t count;

	must_do(ledger_count(n->ledger, run, 0, NULL, &count, &err), &err);
	return count;
}

static void give_back(struct lent *n)
{
	ledger_port_cleanup(&n->port);
	ledger_close(n->ledger);
}

static int read_and_append(int fd)
{
	auto_ledger_link struct ledger_link *k = NULL;
	struct ledger_new list[] = {
		{.type = "new", .payload = "{\"b\":[1]}", .payload_len = 9, .actor = "me"},
		{.type = "new", .payload = "{}", .payload_len = 2, .caused_by = "evt_001"},
	};
	struct error err;
	struct ledger_event e;
	int seen = 0, got;

	if (ledger_link_open(fd, &k, &err) < 0)
		return 1;
	while ((got = ledger_link_next(k, &e, &err)) > 0)
		if (e.seq != (uint64_t)++seen || strcmp(e.type, "old") != 0 ||
			strcmp(e.payload, "{\"a\":1}") != 0)
			return 2;
	if (got < 0 || seen != 3)
		return 3;
	if (ledger_link_append(k, list, 2, true, &err) < 0 ||
		strcmp(ledger_link_id(k), "evt_005") != 0)
		return 4;
	/* One that is none leaves the others as they are. */
	list[0].payload = "[]";
	if (ledger_link_append(k, list, 2, false, &err) == 0 || err.code != ERR_FORMAT)
		return 5;
	list[0].payload = "{\"b\":22} ";
	return ledger_link_append(k, list, 1, false, &err) < 0 ? 6 : 0;
}

static void what_is_appended_waits_for_the_commit(void **state)
{
	auto_ledger_cursor struct ledger_cursor *c = NULL;
	struct ledger_event e;
	struct error err = {0};
	struct lent n;

	lend(&n, *state, (struct ledger_port_limits){0}, read_and_append);
	assert_int_equal(status_of(&n), 0);
	assert_int_equal(ledger_port_appended(n.port), 3);
	assert_false(ledger_port_is_spent(n.port));
	assert_null(ledger_port_fault(n.port));
	assert_int_equal(count_of(&n, n.fork), 3);
	must_do(ledger_port_commit(n.port, &err), &err);
	assert_int_equal(count_of(&n, n.fork), 6);
	assert_int_equal(count_of(&n, n.parent), 5);
	must_do(ledger_events(n.ledger, n.fork, 4, 4, &c, &err), &err);
	assert_int_equal(ledger_next(c, &e, &err), 1);
	assert_string_equal(e.id, "evt_004");
	assert_string_equal(e.actor, "me");
	assert_string_equal(e.payload, "{\"b\":[1]}");
	assert_int_equal(e.block, 5);
	ledger_cursor_cleanup(&c);
	give_back(&n);
}

static int append_too_many(int fd)
{
	auto_ledger_link struct ledger_link *k = NULL;
	struct ledger_new e = {.type = "new", .payload = "{}", .payload_len = 2};
	struct error err;
	int done = 0;

	if (ledger_link_open(fd, &k, &err) < 0)
		return 100;
	while (done < 50 && ledger_link_append(k, &e, 1, false, &err) == 0)
		done++;
	return err.code == ERR_LIMIT ? done : 101;
}

static void the_budget_is_the_lenders(void **state)
{
	struct error err = {0};
	struct lent n;

	lend(&n, *state, (struct ledger_port_limits){.events = 7}, append_too_many);
	assert_int_equal(status_of(&n), 7);
	assert_true(ledger_port_is_spent(n.port));
	must_do(ledger_port_commit(n.port, &err), &err);
	assert_int_equal(count_of(&n, n.fork), 10);
	give_back(&n);
	assert_int_equal(scratch_shell(*state, "rm -f ledger*"), 0);
	lend(&n, *state, (struct ledger_port_limits){.bytes = 100}, append_too_many);
	assert_in_range(status_of(&n), 1, 2);
	assert_true(ledger_port_is_spent(n.port));
	give_back(&n);
}

static int send_nonsense(int fd)
{
	unsigned char bytes[64] = {0xff, 0xff, 0xff, 0xff, 9};

	return write(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) ? 0 : 1;
}

static int send_unknown(int fd)
{
	unsigned char bytes[] = {1, 0, 0, 0, 77};

	return write(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) ? 0 : 1;
}

static int send_half(int fd)
{
	unsigned char bytes[] = {200, 0, 0, 0, 3, 1};

	return write(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) ? 0 : 1;
}

/* A batch whose count promises more than there is. */
static int send_false_count(int fd)
{
	unsigned char bytes[] = {6, 0, 0, 0, 3, 0, 255, 255, 255, 255}, head[5];

	if (write(fd, bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes))
		return 1;
	return read(fd, head, 5) == 5 && head[4] == 6 ? 0 : 2;
}

static void who_breaks_the_rules_is_cut_off(void **state)
{
	static int (*const borrowers[])(int) = {
		send_nonsense, send_unknown, send_half, send_false_count};

	for (size_t i = 0; i < ARRAY_LEN(borrowers); i++) {
		struct error err = {0};
		struct lent n;

		lend(&n, *state, (struct ledger_port_limits){0}, borrowers[i]);
		assert_int_equal(status_of(&n), 0);
		assert_int_equal(ledger_port_fault(n.port) != NULL, i < 2);
		must_do(ledger_port_commit(n.port, &err), &err);
		assert_int_equal(count_of(&n, n.fork), 3);
		give_back(&n);
		assert_int_equal(scratch_shell(*state, "rm -f ledger*"), 0);
	}
}

static void a_run_that_grew_meanwhile_takes_nothing_back(void **state)
{
	struct error err = {0};
	struct lent n;

	lend(&n, *state, (struct ledger_port_limits){0}, read_and_append);
	append(n.ledger, n.fork, 1);
	assert_int_equal(ledger_port_commit(n.port, &err), -1);
	assert_int_equal(err.code, ERR_BUSY);
	assert_int_equal(count_of(&n, n.fork), 4);
	assert_int_equal(status_of(&n), 0);
	give_back(&n);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
	static const struct CMUnitTest tests[] = {
		CASE(what_is_appended_waits_for_the_commit),
		CASE(the_budget_is_the_lenders),
		CASE(who_breaks_the_rules_is_cut_off),
		CASE(a_run_that_grew_meanwhile_takes_nothing_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
