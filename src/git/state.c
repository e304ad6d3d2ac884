/* SPDX-License-Identifier: Apache-2.0 */
/* Cleanliness of a working tree: see repo.h. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "git/lib.h"

enum {
	STAGED = GIT_STATUS_INDEX_NEW | GIT_STATUS_INDEX_MODIFIED | GIT_STATUS_INDEX_DELETED |
		 GIT_STATUS_INDEX_RENAMED | GIT_STATUS_INDEX_TYPECHANGE,
	CHANGED = GIT_STATUS_WT_MODIFIED | GIT_STATUS_WT_DELETED | GIT_STATUS_WT_TYPECHANGE |
		  GIT_STATUS_WT_RENAMED | GIT_STATUS_WT_UNREADABLE,
};

static int read_head(git_repository *repo, struct repo_state *ret, struct error *err)
{
	auto_ref git_reference *head = NULL, *symbolic = NULL;
	int r = git_reference_lookup(&symbolic, repo, "HEAD");

	if (r < 0)
		return lib_error(r, err, "read HEAD");
	if (git_reference_type(symbolic) == GIT_REFERENCE_SYMBOLIC) {
		const char *target = git_reference_symbolic_target(symbolic);

		snprintf(ret->branch, sizeof(ret->branch), "%s",
			str_has_prefix(target, "refs/heads/") ? target + 11 : target);
	}
	r = git_repository_head(&head, repo);
	if (r == GIT_EUNBORNBRANCH)
		return 0;
	if (r < 0)
		return lib_error(r, err, "read HEAD");
	git_oid_tostr(ret->commit, sizeof(ret->commit), git_reference_target(head));
	return 0;
}

/* Left out of a sparse checkout: libgit2 takes it to be deleted. */
static bool is_skipped(git_index *index, const git_status_entry *e)
{
	const git_index_entry *entry =
		e->status == GIT_STATUS_WT_DELETED
			? git_index_get_bypath(index, e->index_to_workdir->old_file.path, 0)
			: NULL;

	return entry && (entry->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE);
}

static void count(struct repo_state *s, git_index *index, const git_status_entry *e)
{
	const git_diff_delta *d = e->head_to_index ? e->head_to_index : e->index_to_workdir;

	if (is_skipped(index, e) || e->status == GIT_STATUS_CURRENT ||
		(e->status & GIT_STATUS_IGNORED))
		return;
	s->staged += (e->status & STAGED) != 0;
	s->changed += (e->status & CHANGED) != 0;
	s->untracked += (e->status & GIT_STATUS_WT_NEW) != 0;
	s->conflicted += (e->status & GIT_STATUS_CONFLICTED) != 0;
	s->is_clean = false;
	if (!s->first[0] && d)
		snprintf(s->first, sizeof(s->first), "%s",
			d->new_file.path ? d->new_file.path : d->old_file.path);
}

int repo_state(const char *path, struct repo_state *ret, struct error *err)
{
	auto_guard struct lib_guard guard = lib_guard();
	git_status_options options = GIT_STATUS_OPTIONS_INIT;
	auto_repo git_repository *repo = NULL;
	auto_index git_index *index = NULL;
	git_status_list *list = NULL;
	struct repo_state s = {.is_clean = true};
	int r;

	if (lib_open(path, &repo, err) < 0)
		return -1;
	if (git_repository_is_bare(repo))
		return error_set(err, ERR_USAGE, "'%.200s' has no working tree", path);
	/* Its configuration may name another directory; this one was asked about. */
	r = git_repository_set_workdir(repo, path, 0);
	if (r == 0)
		r = git_repository_index(&index, repo);
	if (r < 0)
		return lib_error(r, err, "look into '%.200s'", path);
	if (read_head(repo, &s, err) < 0)
		return -1;
	options.flags = GIT_STATUS_OPT_INCLUDE_UNTRACKED | GIT_STATUS_OPT_RECURSE_UNTRACKED_DIRS |
			GIT_STATUS_OPT_EXCLUDE_SUBMODULES | GIT_STATUS_OPT_DISABLE_PATHSPEC_MATCH;
	r = git_status_list_new(&list, repo, &options);
	if (r < 0)
		return lib_error(r, err, "compare '%.200s' with its commit", path);
	for (size_t i = 0; i < git_status_list_entrycount(list); i++)
		count(&s, index, git_status_byindex(list, i));
	git_status_list_free(list);
	*ret = s;
	return 0;
}
