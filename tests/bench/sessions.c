/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of sessions: see sessions.h. In one process, on the host's file system. */
#include "sessions.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "session/session.h"

enum { MIB = 1 << 20, FORKS = 8, MS = 1000000, DIRS = 100, FILES = 99, SIZE = 20808 };

struct work {
	struct session_store *store;
	struct session *session;
	char *mib;
};

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

/* 10,000 entries and 206 MB, put where the session has its files. */
static void fill_large(const struct work *w, const char *home)
{
	const char *id = session_record(w->session)->id;
	char path[PATH_MAX];

	for (int i = 0; i < DIRS; i++) {
		snprintf(path, sizeof(path), "%s/state/sessions/%s/%s/workspace/d%d", home, id, id,
			i);
		if (mkdir(path, 0755) < 0)
			err(2, "%s", path);
		for (int k = 0; k < FILES; k++) {
			autofree char *name = str_format("%s/f%d", path, k);
			autoclose int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
			struct error e = {0};

			if (fd < 0)
				err(2, "%s", name);
			must(fd_write_all(fd, w->mib + i, SIZE, &e), &e);
		}
	}
}

/* Once: it writes 1.6 GB where the file system shares nothing. */
static bool large_row(struct work *w, const char *home)
{
	enum { TARGET_MS = 100 };
	char ids[FORKS][SESSION_ID_SIZE], measured[80];
	auto_session struct session *first = NULL;
	struct error e = {0};
	uint64_t from;
	double ms;

	fill_large(w, home);
	sync();
	from = clock_host_ns();
	must(session_fork(w->session, FORKS, 0, ids, &e), &e);
	ms = (double)(clock_host_ns() - from) / MS;
	must(session_open(w->store, ids[0], &first, &e), &e);
	snprintf(measured, sizeof(measured), "%.0f ms (by %s)", ms, session_record(first)->made);
	print_row("session fork --count 8 of 10,000 entries, 206 MB", "at most 100 ms", measured,
		ms <= TARGET_MS);
	for (int i = 0; i < FORKS; i++)
		must(session_destroy(w->store, ids[i], &e), &e);
	return ms <= TARGET_MS;
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
	met = large_row(&w, home) && met;
	session_close(w.session);
	session_store_close(w.store);
	free(w.mib);
	return met;
}
