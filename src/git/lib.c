/* SPDX-License-Identifier: Apache-2.0 */
/* libgit2 as this folder uses it: see lib.h. */
#include "git/lib.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"

enum { GUARD_SECONDS = 2 };

int lib_error(int code, struct error *err, const char *fmt, ...)
{
	const git_error *last = git_error_last();
	char words[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	return error_set(err,
		code == GIT_ENOTFOUND			     ? ERR_MISSING
		: code == GIT_EEXISTS || code == GIT_ELOCKED ? ERR_BUSY
							     : ERR_SYSTEM,
		"%s: %.150s", words, last && last->message ? last->message : "unknown error");
}

/* Once a process: nobody's configuration decides what we do, nor who owns a repository. */
static void start(void)
{
	static const int levels[] = {GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM,
		GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL};
	static bool is_started;

	if (is_started)
		return;
	is_started = true;
	if (git_libgit2_init() < 0)
		abort();
	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		if (git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "") < 0)
			abort();
	/* Nothing of a repository is run, so that its owner matters to sources alone: source.c. */
	if (git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0) < 0)
		abort();
}

/* Its coming is all: the call that waits ends with EINTR. */
static void on_alarm(int signal)
{
	(void)signal;
}

struct lib_guard lib_guard(void)
{
	/* Again and again: one may come just before the call. */
	static const struct itimerval every = {{GUARD_SECONDS, 0}, {GUARD_SECONDS, 0}};
	struct sigaction action = {.sa_handler = on_alarm};
	struct lib_guard g;

	sigaction(SIGALRM, &action, &g.action);
	setitimer(ITIMER_REAL, &every, &g.timer);
	return g;
}

void lib_guard_finish(struct lib_guard *g)
{
	setitimer(ITIMER_REAL, &g->timer, NULL);
	sigaction(SIGALRM, &g->action, NULL);
}

int lib_open(const char *path, git_repository **ret, struct error *err)
{
	int r;

	start();
	r = git_repository_open_ext(ret, path, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL);
	return r < 0 ? lib_error(r, err, "open the repository '%.200s'", path) : 0;
}

/* 1 with the commit of an object by a revision's text, 0 when there is none of that name. */
static int peel(git_repository *repo, const char *text, git_commit **ret, struct error *err)
{
	git_object *found = NULL, *commit = NULL;
	int r = git_revparse_single(&found, repo, text);

	if (r == GIT_ENOTFOUND || r == GIT_EINVALIDSPEC)
		return 0;
	if (r < 0)
		return lib_error(r, err, "look for '%.100s'", text);
	r = git_object_peel(&commit, found, GIT_OBJECT_COMMIT);
	git_object_free(found);
	if (r < 0)
		return lib_error(r, err, "'%.100s' is no commit", text);
	*ret = (git_commit *)commit;
	return 1;
}

static bool is_name(const char *name)
{
	/* No expressions: "HEAD~3" or ":/text" are not names. */
	int valid = 0;
	char ref[300];

	snprintf(ref, sizeof(ref), "refs/heads/%.280s", name);
	return git_reference_name_is_valid(&valid, ref) == 0 && valid;
}

int lib_find_commit(git_repository *repo, const char *name, git_commit **ret, struct error *err)
{
	/* The last is an id, or refs/... in full. */
	static const char *const places[] = {
		"refs/heads/", "refs/remotes/origin/", "refs/tags/", ""};

	if (!name) {
		if (git_repository_head_unborn(repo) == 1)
			return 0;
		return peel(repo, "HEAD", ret, err) == 1
			       ? 1
			       : error_set(err, ERR_FORMAT,
					 "the HEAD of the repository leads nowhere");
	}
	for (size_t i = 0; is_name(name) && i < ARRAY_LEN(places); i++) {
		autofree char *text = str_format("%s%s", places[i], name);
		int r = peel(repo, text, ret, err);

		if (r != 0)
			return r;
	}
	return error_set(err, ERR_MISSING, "no branch, tag or commit '%.100s'", name);
}

void lib_free_repo(git_repository **r)
{
	git_repository_free(*r);
}

void lib_free_commit(git_commit **c)
{
	git_commit_free(*c);
}

void lib_free_tree(git_tree **t)
{
	git_tree_free(*t);
}

void lib_free_index(git_index **i)
{
	git_index_free(*i);
}

void lib_free_ref(git_reference **r)
{
	git_reference_free(*r);
}
