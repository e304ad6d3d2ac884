/* SPDX-License-Identifier: Apache-2.0 */
/* Options that do not go together, or name a place where nothing can be written: see options.h. */
#include "run/options.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "run/export.h"

/* What is to be written at the end is tried before the guest runs, for that may take long. */
static int check_place(const char *option, const char *path, struct error *err)
{
	autofree char *tidy = path_tidy(path), *dir = path_dirname(tidy);

	return access(dir, W_OK | X_OK) < 0 ? error_sys(err, "%s '%.300s'", option, path) : 0;
}

/* A file: --report and --trace. */
static int check_file(
	const struct run_options *o, const char *option, const char *path, struct error *err)
{
	autofree char *real = realpath(path, NULL);
	struct stat st = {0};

	if (real && stat(real, &st) == 0 && S_ISDIR(st.st_mode))
		return error_set(err, ERR_USAGE, "%s '%.300s' is a directory", option, path);
	if (real && !S_ISREG(st.st_mode))
		return 0;
	if (check_place(option, real ? real : path, err) == 0)
		return 0;
	/* It may lie in what --out is about to make. */
	return o->out && err->sys == ENOENT ? 0 : -1;
}

/* A tape that the guest can see grow would be input of its own, and change the digest. */
static int check_record(const struct run_options *o, const struct contract *c, const char *option,
	const char *path, struct error *err)
{
	autofree char *tidy = path_tidy(path), *dir = path_dirname(tidy),
		      *real = realpath(dir, NULL);

	/* --save is a recording that was asked for by another name. */
	if (c->tty)
		return error_set(err, ERR_USAGE,
			"the keys of a terminal are not recorded: for --record, --journal or "
			"--save give the input by a pipe or a file");
	if (o->no_determinism)
		return error_set(
			err, ERR_USAGE, "%s needs determinism: leave --no-determinism out", option);
	if (!real)
		return error_sys(err, "%s '%.300s'", option, path);
	if (c->copy_dir && !c->rootfs && path_is_in(real, c->copy_dir))
		return error_set(err, ERR_USAGE,
			"%s '%.200s' lies in the directory that the program gets a copy of; name "
			"a place outside",
			option, path);
	return 0;
}

/* What a resumed run would do twice. */
static int check_journal(const struct run_options *o, const struct contract *c, struct error *err)
{
	if (o->record || o->verify)
		return error_set(err, ERR_USAGE,
			"--journal is a recording itself, of one run: leave %s out",
			o->record ? "--record" : "--verify");
	for (size_t i = 0; i < c->bind_count; i++)
		if (c->binds[i].writable)
			return error_set(err, ERR_USAGE,
				"--journal: a resumed run would write to '%.200s' again; share it "
				"by --bind-ro, or take --out",
				c->binds[i].source);
	return check_record(o, c, "--journal", o->journal, err);
}

int options_check(
	const struct run_options *o, const struct contract *c, const char *image, struct error *err)
{
	if (o->report && check_file(o, "--report", o->report, err) < 0)
		return -1;
	if (o->trace && check_file(o, "--trace", o->trace, err) < 0)
		return -1;
	if (o->receipt && check_file(o, "--receipt", o->receipt, err) < 0)
		return -1;
	if (o->record && check_record(o, c, "--record", o->record, err) < 0)
		return -1;
	if (o->journal && check_journal(o, c, err) < 0)
		return -1;
	if (o->no_determinism && (o->trace || o->sched_seed || o->switches))
		return error_set(err, ERR_USAGE,
			"--trace, --sched-seed and --switches need determinism: leave "
			"--no-determinism out");
	if (o->out && access(o->out, F_OK) < 0 && check_place("--out", o->out, err) < 0)
		return -1;
	if (o->out && !c->copy_dir)
		return error_set(err, ERR_USAGE,
			image[0] ? "--out takes what is written below the working directory, and "
				   "nothing can be written in this one; give --workdir DIR, which "
				   "need "
				   "not be there"
				 : "--out: there is no private copy to take it from (it is made of "
				   "the "
				   "current directory, without --rootfs)");
	return o->out ? export_check(o->out, err) : 0;
}
