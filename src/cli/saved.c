/* SPDX-License-Identifier: Apache-2.0 */
/* `sandglass run --save` and `--from`: see saved.h. */
#include "cli/saved.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/dir.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/remove.h"
#include "base/str.h"
#include "cli/cli.h"
#include "config/paths.h"
#include "history/history.h"
#include "run/replay.h"

void cli_saved_finish(struct cli_saved_run *r)
{
	ledger_close(r->ledger);
	if (r->tape)
		unlink(r->tape);
	if (r->dir) {
		rmdir(r->dir);
		fd_close(&r->lock);
	}
	free(r->tape);
	free(r->dir);
}

/* Whether a tape may lie there: not where the program gets a copy of everything. */
static bool may_hold(const char *dir, const char *cwd)
{
	autofree char *tidy = path_tidy(dir);

	return *dir == '/' && access(dir, W_OK) == 0 && !path_is_in(tidy, cwd);
}

#define PLACE "sandglass-saved-"
enum { NAMES_MAX = 1000000, TRIES = 100 };

/* What killed runs of this user have left: nobody has a lock on it. */
static void sweep(const char *top)
{
	auto_names struct beneath_names names = {0};
	autoclose int dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct error ignored;

	if (dir < 0 || beneath_list(dir, NAMES_MAX, &names, &ignored) < 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		autoclose int fd = -1;
		struct stat st;

		if (!str_has_prefix(names.items[i], PLACE))
			continue;
		fd = openat(dir, names.items[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
			(st.st_mode & 07777) == 0700 && flock(fd, LOCK_EX | LOCK_NB) == 0)
			(void)!remove_tree(dir, names.items[i], &ignored);
	}
}

/* A directory with a lock on it. */
static int make_dir(const char *top, struct cli_saved_run *r, struct error *err)
{
	for (int i = 0; i < TRIES; i++) {
		autofree char *dir = str_format("%s/" PLACE "XXXXXX", top);
		autoclose int fd = -1;
		struct stat st;

		if (!mkdtemp(dir))
			return error_sys(err, "make '%.300s'", dir);
		fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		/* Whoever sweeps may have been faster: then it is gone. */
		if (fd < 0 || flock(fd, LOCK_EX) < 0 || fstat(fd, &st) < 0 || st.st_nlink == 0)
			continue;
		r->lock = take_fd(fd);
		r->dir = take_ptr(dir);
		return 0;
	}
	return error_set(err, ERR_BUSY, "no directory stays in '%.300s'", top);
}

/* A place for a tape that goes when the run has. */
static int make_place(struct cli_saved_run *r, struct error *err)
{
	autofree char *cwd = getcwd(NULL, 0), *state = NULL;
	const char *chosen = NULL, *top = getenv("TMPDIR");
	const char *places[] = {top ? top : "", "/tmp", NULL, "/dev/shm"};

	if (!cwd)
		return error_sys(err, "the current directory");
	if (paths_find(PATHS_STATE, &state, err) == 0 && dir_make(state, err) == 0)
		places[2] = state;
	for (size_t i = 0; i < ARRAY_LEN(places) && !chosen; i++)
		if (places[i] && may_hold(places[i], cwd))
			chosen = places[i];
	if (!chosen)
		return error_set(err, ERR_USAGE,
			"there is no place for the tape outside the current directory: set TMPDIR");
	sweep(chosen);
	if (make_dir(chosen, r, err) < 0)
		return -1;
	r->tape = str_format("%s/tape", r->dir);
	return 0;
}

/* The command that the tape is of has to be the one that was given, if any was. */
static int check_command(const struct run_options *o, const char *tape, struct error *err)
{
	auto_tape_reader struct tape_reader *t = NULL;
	auto_json json_t *header = NULL;
	const json_t *argv;
	size_t count = 0;
	bool same = true;

	if (!o->argv[0])
		return 0;
	if (tape_open(tape, &t, err) < 0 || replay_header(t, &header, err) < 0)
		return -1;
	argv = json_object_get(json_object_get(header, "contract"), "argv");
	while (o->argv[count] && same) {
		const char *word = json_string_value(json_array_get(argv, count));

		same = word && strcmp(word, o->argv[count]) == 0;
		count++;
	}
	return same && count == json_array_size(argv)
		       ? 0
		       : error_set(err, ERR_USAGE,
				 "--from: the saved run is of another command; leave it out");
}

/* What decides the run is the saved run's. */
static bool has_contract_options(const struct run_options *o)
{
	return o->rootfs || o->image || o->user || o->entrypoint || o->workdir || o->workflow_id ||
	       o->network || o->epoch || o->switches || o->record || o->journal || o->receipt ||
	       o->bind_ro.count || o->bind.count || o->env.count || o->clock_step_ns ||
	       o->sched_seed || o->timers_after_ns || o->memory || o->pids || o->allow_tag ||
	       o->verify || o->digest_inputs || o->no_determinism || o->print_contract;
}

static int begin_from(struct cli_saved_run *r, struct run_options *o, struct error *err)
{
	if (r->label || has_contract_options(o))
		return error_set(err, ERR_USAGE,
			"--from goes with --store, --out, --timeout, --trace and --report alone: "
			"the rest is the saved run's");
	if (make_place(r, err) < 0 ||
		history_restore(r->ledger, r->from, r->tape, &r->records, err) < 0 ||
		check_command(o, r->tape, err) < 0)
		return -1;
	o->tape = r->path = r->tape;
	o->resume = true;
	return 0;
}

int cli_saved_begin(const struct cli_saved *s, struct run_options *o, struct cli_saved_run *ret,
	struct error *err)
{
	ret->label = s->label;
	ret->from = s->from;
	if (!s->label && !s->from)
		return s->runs.store
			       ? error_set(err, ERR_USAGE, "--store goes with --save or --from")
			       : 0;
	if (cli_runs_open(&s->runs, s->from ? LEDGER_EXISTING : LEDGER_MAKE, &ret->ledger, err) < 0)
		return -1;
	if (s->from)
		return begin_from(ret, o, err);
	if (o->no_determinism || o->print_contract)
		return error_set(err, ERR_USAGE, "--save needs a run that can be recorded");
	ret->path = o->record ? o->record : o->journal;
	if (ret->path)
		return 0;
	if (make_place(ret, err) < 0)
		return -1;
	o->record = ret->path = ret->tape;
	return 0;
}

int cli_saved_end(struct cli_saved_run *r, struct error *err)
{
	autofree char *line = NULL;
	char id[LEDGER_ULID];
	uint64_t appended;

	if (!r->path)
		return 0;
	if (r->from) {
		if (history_extend(r->ledger, r->from, r->path, r->records, &appended, err) < 0)
			return error_wrap(err, "--from");
		return 0;
	}
	if (history_save(r->ledger, r->path, r->label, id, err) < 0)
		return error_wrap(err, "--save");
	line = str_format("saved as run %s", id);
	cli_say(line);
	return 0;
}
