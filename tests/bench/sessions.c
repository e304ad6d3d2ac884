/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of sessions: see sessions.h. In one process, on the host's file system. */
#include "sessions.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "session/session.h"

enum { MIB = 1 << 20, FORKS = 8, MS = 1000000 };

struct work {
	struct session_store *store;
	struct session *session;
	char *mib;
};

static void must(int r, const struct error *e)
{
	if (r < 0)
		errx(2, "%s", e->msg);
}

static void create(struct work *w)
{
	auto_manifest struct manifest m = {0};
	char id[SESSION_ID_SIZE];
	struct error e = {0};

	manifest_init(&m);
	must(session_create(w->store, "native", &m, 0, id, &e), &e);
}

static void exec_true(struct work *w)
{
	char name[] = "true", *const argv[] = {name, NULL};
	struct sandbox_exec x = {.argv = argv, .input = -1};
	struct sandbox_result r;
	struct error e = {0};

	must(session_exec(w->session, &x, &r, &e), &e);
}

static void write_and_read(struct work *w)
{
	autofree char *got = NULL;
	struct error e = {0};
	size_t len;

	must(session_write(w->session, "mib", w->mib, MIB, 0644, &e), &e);
	must(session_read(w->session, "mib", MIB, &got, &len, &e), &e);
}

static void fork_it(struct work *w)
{
	char ids[FORKS][SESSION_ID_SIZE];
	struct error e = {0};

	must(session_fork(w->session, FORKS, 0, ids, &e), &e);
}

static bool row(const struct bench *b, struct work *w, const char *what, double target_ms,
	void (*run)(struct work *w))
{
	struct least l = {0};
	char target[40], measured[40];
	double ms;

	for (int i = 0; i < b->rounds; i++) {
		uint64_t from = clock_host_ns();

		run(w);
		least_add(&l, clock_host_ns() - from);
	}
	ms = (double)l.ns / MS;
	snprintf(target, sizeof(target), "at most %.0f ms", target_ms);
	snprintf(measured, sizeof(measured), "%.1f ms", ms);
	print_row(what, target, measured, ms <= target_ms);
	return ms <= target_ms;
}

bool session_rows(const struct bench *b)
{
	char home[128], supervisor[PATH_MAX + 32];
	struct work w = {.mib = mem_alloc(MIB)};
	auto_manifest struct manifest m = {0};
	char id[SESSION_ID_SIZE];
	struct error e = {0};
	bool met = true;

	snprintf(home, sizeof(home), "%s/home", b->dir);
	snprintf(supervisor, sizeof(supervisor), "%s-supervise", b->sandglass);
	setenv("SANDGLASS_HOME", home, 1);
	setenv("SANDGLASS_SUPERVISE", supervisor, 1);
	memset(w.mib, 'x', MIB);
	manifest_init(&m);
	must(session_store_open(&w.store, &e), &e);
	must(session_create(w.store, "native", &m, 0, id, &e), &e);
	must(session_open(w.store, id, &w.session, &e), &e);
	met = row(b, &w, "session create, native", 10, create) && met;
	met = row(b, &w, "session exec of `true`, native", 5, exec_true) && met;
	met = row(b, &w, "session write and read of 1 MiB, native", 3, write_and_read) && met;
	met = row(b, &w, "session fork --count 8 of a workspace of 1 MiB", 100, fork_it) && met;
	session_close(w.session);
	session_store_close(w.store);
	free(w.mib);
	return met;
}
