/* SPDX-License-Identifier: Apache-2.0 */
/* Checkouts and worktrees are as git would make them, and nothing of a repository is run. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "git/repo.h"
#include "scratch.h"

#define GIT_ENV \
	"export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b " \
	"GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; git config --global safe.directory '*';"

/* Two commits on main, one more on the branch side, a tag on the first. */
static int repo_setup(void **state)
{
	if (scratch_setup(state) != 0)
		return -1;
	return scratch_shell(*state, GIT_ENV
		"git init -q -b main src; cd src; echo one >a; mkdir -p d/e; echo x >d/e/f;"
		"echo run >d/run; chmod 755 d/run; ln -s ../a d/link; git add .; git commit -qm 1;"
		"git tag v1; echo two >a; git commit -qam 2; git checkout -q -b side;"
		"echo s >side; git add side; git commit -qm 3; git checkout -q main");
}

static struct repo_source source(const struct scratch *s, char **path, const char *branch)
{
	*path = scratch_path(s, "src");
	return (struct repo_source){.path = *path, .branch = branch};
}

static void must(int r, const struct error *err)
{
	if (r < 0)
		fail_msg("%s", err->msg);
}

static void a_checkout_is_clean_and_whole(void **state)
{
	const struct scratch *s = *state;
	autofree char *path = NULL, *to = scratch_path(s, "out");
	struct repo_source from = source(s, &path, NULL);
	char commit[REPO_COMMIT_SIZE];
	struct repo_state st;
	struct error err;

	must(repo_checkout(&from, to, commit, &err), &err);
	assert_int_equal(scratch_shell(s, GIT_ENV "cd out; [ -z \"$(git status --porcelain)\" ]; [ "
						  "$(git log --oneline | wc -l) = 2 ];"
						  "[ $(git rev-parse --abbrev-ref HEAD) = main ]; "
						  "[ -x d/run ]; [ $(readlink d/link) "
						  "= ../a ]; git fsck; [ $(stat -c %a a) = 644 ]; "
						  "git log origin/side -1; ! find "
						  ".git/hooks -type f ! -name '*.sample' | grep ."),
		0);
	must(repo_state(to, &st, &err), &err);
	assert_true(st.is_clean);
	assert_string_equal(st.branch, "main");
	assert_string_equal(st.commit, commit);
}

static void branches_tags_and_commits_are_found(void **state)
{
	const struct scratch *s = *state;
	autofree char *path = NULL, *one = scratch_path(s, "o1"), *two = scratch_path(s, "o2"),
		      *three = scratch_path(s, "o3"), *four = scratch_path(s, "o4");
	struct repo_source from = source(s, &path, "side");
	char commit[REPO_COMMIT_SIZE], tag[REPO_COMMIT_SIZE], again[REPO_COMMIT_SIZE];
	struct error err;

	must(repo_checkout(&from, one, commit, &err), &err);
	from.branch = "v1";
	must(repo_checkout(&from, two, tag, &err), &err);
	from.branch = tag;
	must(repo_checkout(&from, three, again, &err), &err);
	assert_string_equal(tag, again);
	assert_int_equal(
		scratch_shell(s, GIT_ENV
			"[ -e o1/side ]; cd o1; [ $(git rev-parse --abbrev-ref HEAD) = side ];"
			"[ $(git rev-parse --abbrev-ref side@{upstream}) = origin/side ];"
			"cd ../o2; [ $(cat a) = one ]; [ $(git rev-parse --abbrev-ref HEAD) = HEAD "
			"]"),
		0);
	from.branch = "nothing";
	assert_int_equal(repo_checkout(&from, four, commit, &err), -1);
	assert_int_equal(err.code, ERR_MISSING);
	from.branch = "HEAD~1";
	assert_int_equal(repo_checkout(&from, four, commit, &err), -1);
	assert_int_equal(err.code, ERR_MISSING);
	/* Nothing is left of it. */
	assert_int_equal(scratch_shell(s, "[ ! -e o4 ]"), 0);
	from.branch = NULL;
	from.path = "/nonexistent";
	assert_int_equal(repo_checkout(&from, four, commit, &err), -1);
	assert_int_equal(err.code, ERR_MISSING);
}

static void sparse_paths_are_marked_as_git_does(void **state)
{
	const struct scratch *s = *state;
	static const char *const wanted[] = {"d/e", "side"}, *const bad[] = {"../x"};
	autofree char *path = NULL, *to = scratch_path(s, "out"), *plain = scratch_path(s, "plain");
	struct repo_source from = source(s, &path, "side");
	char commit[REPO_COMMIT_SIZE];
	struct repo_state st;
	struct error err;

	from.sparse = wanted;
	from.sparse_count = 2;
	must(repo_checkout(&from, to, commit, &err), &err);
	must(repo_export(&from, plain, commit, &err), &err);
	assert_int_equal(
		scratch_shell(s, GIT_ENV
			"[ \"$(cd plain; find . -type f | sort | tr '\\n' ' ')\" = './d/e/f ./side "
			"' ];"
			"cd out; [ -z \"$(git status --porcelain)\" ]; [ ! -e a ];"
			"git ls-files -v | grep -q '^S a$'; git ls-files -v | grep -q '^H side$'"),
		0);
	must(repo_state(to, &st, &err), &err);
	assert_true(st.is_clean);
	from.sparse = bad;
	from.sparse_count = 1;
	assert_int_equal(repo_export(&from, to, commit, &err), -1);
}

static void worktrees_come_and_go(void **state)
{
	const struct scratch *s = *state;
	autofree char *path = NULL, *one = scratch_path(s, "w1"), *two = scratch_path(s, "w2");
	struct repo_source from = source(s, &path, NULL);
	char commit[REPO_COMMIT_SIZE];
	struct repo_state st;
	struct error err;
	char **names;

	must(repo_worktree_add(&from, "one", NULL, one, commit, &err), &err);
	must(repo_worktree_add(&from, "two", "agent/two", two, commit, &err), &err);
	assert_int_equal(scratch_shell(s, GIT_ENV "cd w1; [ -z \"$(git status --porcelain)\" ]; [ "
						  "$(git rev-parse --abbrev-ref HEAD) = "
						  "HEAD ]; cd ../w2; [ $(git rev-parse "
						  "--abbrev-ref HEAD) = agent/two ]; echo z >z;"
						  "git add z; git commit -qm z; cd ../src; [ $(git "
						  "worktree list | wc -l) = 3 ];"
						  "git worktree list | grep -q agent/two; git "
						  "fsck; [ -z \"$(git status --porcelain)\" ]"),
		0);
	must(repo_worktree_list(path, &names, &err), &err);
	assert_string_equal(names[0], "one");
	assert_string_equal(names[1], "two");
	assert_null(names[2]);
	repo_names_free(names);
	must(repo_state(two, &st, &err), &err);
	assert_string_equal(st.branch, "agent/two");
	assert_true(st.is_clean);
	/* Taken names and branches; a second worktree may come from a first. */
	free(one);
	one = scratch_path(s, "w3");
	assert_int_equal(repo_worktree_add(&from, "one", NULL, one, commit, &err), -1);
	assert_int_equal(err.code, ERR_BUSY);
	assert_int_equal(repo_worktree_add(&from, "three", "agent/two", one, commit, &err), -1);
	assert_int_equal(err.code, ERR_BUSY);
	assert_int_equal(repo_worktree_add(&from, "../x", NULL, one, commit, &err), -1);
	assert_int_equal(scratch_shell(s, "[ ! -e w3 ] && [ ! -e src/.git/worktrees/three ]"), 0);
	from.path = two;
	from.branch = "v1";
	must(repo_worktree_add(&from, "three", NULL, one, commit, &err), &err);
	assert_int_equal(repo_worktree_remove(path, "three", one, &err), 1);
	assert_int_equal(repo_worktree_remove(path, "two", two, &err), 1);
	assert_int_equal(repo_worktree_remove(path, "two", two, &err), 0);
	assert_int_equal(repo_branch_remove(path, "agent/two", &err), 1);
	assert_int_equal(repo_branch_remove(path, "agent/two", &err), 0);
	assert_int_equal(scratch_shell(s, GIT_ENV "[ ! -e w2 ] && [ ! -e w3 ]; cd src; "
						  "[ $(git worktree list | wc -l) = 2 ]; git fsck"),
		0);
}

static void states_are_told_apart(void **state)
{
	const struct scratch *s = *state;
	autofree char *path = scratch_path(s, "src");
	struct repo_state st;
	struct error err;

	assert_int_equal(
		scratch_shell(s, GIT_ENV "cd src; echo '*.o' >.git/info/exclude; echo >x.o"), 0);
	must(repo_state(path, &st, &err), &err);
	assert_true(st.is_clean);
	assert_int_equal(
		scratch_shell(s, GIT_ENV "cd src; echo new >n; mkdir m; echo >m/1; echo >m/2;"
					 "echo c >a; echo st >d/e/f; git add d/e/f; rm d/run"),
		0);
	must(repo_state(path, &st, &err), &err);
	assert_false(st.is_clean);
	assert_int_equal(st.untracked, 3);
	assert_int_equal(st.changed, 2);
	assert_int_equal(st.staged, 1);
	assert_string_equal(st.first, "a");
	assert_int_equal(scratch_shell(s, GIT_ENV "git init -q empty"), 0);
	free(path);
	path = scratch_path(s, "empty");
	must(repo_state(path, &st, &err), &err);
	assert_true(st.is_clean);
	assert_string_equal(st.commit, "");
}

/* Every way that a repository has to name a program; each would leave the file "ran". */
static void nothing_of_a_repository_is_run(void **state)
{
	const struct scratch *s = *state;
	autofree char *path = NULL, *out = scratch_path(s, "out"),
		      *plain = scratch_path(s, "plain"), *tree = scratch_path(s, "tree");
	struct repo_source from = source(s, &path, NULL);
	char commit[REPO_COMMIT_SIZE];
	struct repo_state st;
	struct error err;

	assert_int_equal(
		scratch_shell(s, GIT_ENV
			"printf '#!/bin/sh\\ntouch '$PWD'/ran\\ncat\\n' >evil; chmod 755 evil; cd "
			"src;"
			"printf '* filter=evil diff=evil merge=evil text eol=crlf ident\\n' "
			">.gitattributes;"
			"printf 'line\\n$Id$\\n' >text; git add .; git commit -qm attributes;"
			"for h in post-checkout pre-commit post-index-change post-merge "
			"reference-transaction "
			"fsmonitor-watchman pre-auto-gc update post-update pre-receive; do cp "
			"../evil "
			".git/hooks/$h; done; e=$PWD/../evil;"
			"for k in filter.evil.clean filter.evil.smudge filter.evil.process "
			"core.fsmonitor "
			"core.sshCommand core.gitProxy core.pager core.editor diff.evil.textconv "
			"diff.evil.command merge.evil.driver credential.helper "
			"uploadpack.packObjectsHook "
			"remote.origin.uploadpack gpg.program sequence.editor alias.status; do "
			"git config $k $e; done; git config filter.evil.required true;"
			"git config core.hooksPath $PWD/.git/hooks; git config core.autocrlf true;"
			"printf '[include]\\n\\tpath = %s\\n' $PWD/../more >>.git/config;"
			"printf '[core]\\n\\tfsmonitor = %s\\n' $e >../more; rm -f ../ran"),
		0);
	must(repo_checkout(&from, out, commit, &err), &err);
	must(repo_export(&from, plain, commit, &err), &err);
	must(repo_worktree_add(&from, "w", NULL, tree, commit, &err), &err);
	must(repo_state(path, &st, &err), &err);
	must(repo_state(out, &st, &err), &err);
	assert_int_equal(repo_worktree_remove(path, "w", tree, &err), 1);
	/* And the bytes are those of the commit. */
	assert_int_equal(
		scratch_shell(s, "[ ! -e ran ]; printf 'line\\n$Id$\\n' >want; cmp want "
				 "plain/text; cmp want out/text; ! grep evil out/.git/config"),
		0);
}

static void a_configuration_leads_nowhere_else(void **state)
{
	const struct scratch *s = *state;
	autofree char *path = NULL, *out = scratch_path(s, "out"), *tree = scratch_path(s, "tree");
	struct repo_source from = source(s, &path, NULL);
	char commit[REPO_COMMIT_SIZE];
	struct repo_state st;
	struct error err;

	/* core.worktree would have files read and written there. */
	assert_int_equal(
		scratch_shell(s, GIT_ENV "mkdir other; echo mine >other/a; git -C src config "
					 "core.worktree $PWD/other; cp -r other want"),
		0);
	must(repo_checkout(&from, out, commit, &err), &err);
	must(repo_worktree_add(&from, "w", NULL, tree, commit, &err), &err);
	must(repo_state(path, &st, &err), &err);
	assert_true(st.is_clean);
	assert_int_equal(repo_worktree_remove(path, "w", tree, &err), 1);
	assert_int_equal(scratch_shell(s, "diff -r want other; [ \"$(cat out/a)\" = two ]"), 0);
	/* Where a worktree's files are is not asked of the repository. */
	assert_int_equal(
		scratch_shell(s, "mkdir -p victim src/.git/worktrees/v; echo >victim/keep;"
				 "cd src/.git/worktrees/v; echo ../.. >commondir; echo "
				 "$PWD/../../../../victim/.git >gitdir; cp ../../HEAD HEAD"),
		0);
	assert_int_equal(repo_worktree_remove(path, "v", NULL, &err), 1);
	assert_int_equal(scratch_shell(s, "[ -e victim/keep ]"), 0);
}

static void hostile_trees_are_refused(void **state)
{
	const struct scratch *s = *state;
	static const char *const names[] = {".git", "..", ".GIT", "."};
	autofree char *path = NULL, *out = scratch_path(s, "out");
	struct repo_source from = source(s, &path, "evil");
	char commit[REPO_COMMIT_SIZE];
	struct error err;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		autofree char *text = str_format(GIT_ENV
			"cd src; b=$(echo x | git hash-object -w --stdin);"
			"t=$(printf '100644 blob %%s\\thook\\n' $b | git mktree);"
			"t=$( (printf '40000 %s\\0'; echo $t | perl -ne 'chomp; print pack q(H*), "
			"$_') | git hash-object -t "
			"tree "
			"-w --stdin --literally); c=$(echo m | git commit-tree $t);"
			"git update-ref refs/heads/evil $c",
			names[i]);

		assert_int_equal(scratch_shell(s, text), 0);
		assert_int_equal(repo_export(&from, out, commit, &err), -1);
		assert_int_equal(scratch_shell(s, "[ ! -e out ] && [ ! -e hook ]"), 0);
	}
	/* A link and a directory of one name. */
	assert_int_equal(scratch_shell(s, GIT_ENV
				 "cd src; b=$(printf .. | git hash-object -w --stdin); x=$(echo x "
				 "| git hash-object -w "
				 "--stdin); t=$(printf '100644 blob %s\\thook\\n' $x | git mktree);"
				 "t=$( (printf '120000 a\\0'; echo $b | perl -ne 'chomp; print "
				 "pack q(H*), $_'; printf '40000 "
				 "a\\0'; echo $t | perl -ne 'chomp; print pack q(H*), $_') | git "
				 "hash-object -t tree -w --stdin --literally); c=$(echo "
				 "m | git commit-tree "
				 "$t); git update-ref refs/heads/evil $c"),
		0);
	assert_int_equal(repo_export(&from, out, commit, &err), -1);
	assert_int_equal(scratch_shell(s, "[ ! -e out ] && [ ! -e hook ]"), 0);
}

/* Nine trees are all that there is of a thousand million files. */
static void a_commit_without_end_is_refused(void **state)
{
	const struct scratch *s = *state;
	static const char *const no_paths[] = {"nowhere"};
	autofree char *path = NULL, *to = scratch_path(s, "to");
	struct repo_source from = source(s, &path, "bomb");
	char commit[REPO_COMMIT_SIZE];
	struct error err;

	assert_int_equal(
		scratch_shell(s, GIT_ENV "cd src; id=$(git rev-parse main:a); kind='100644 blob';"
					 "for level in 1 2 3 4 5 6 7 8 9; do"
					 "  id=$(for n in 0 1 2 3 4 5 6 7 8 9; do"
					 "    printf \"$kind $id\\tf$n\\n\"; done | git mktree);"
					 "  kind='040000 tree'; done;"
					 "git branch bomb $(git commit-tree -m bomb $id)"),
		0);
	from.sparse = no_paths;
	for (from.sparse_count = 0; from.sparse_count < 2; from.sparse_count++) {
		assert_int_equal(repo_checkout(&from, to, commit, &err), -1);
		assert_int_equal(err.code, ERR_LIMIT);
		assert_int_not_equal(access(to, F_OK), 0);
	}
}

static void nobody_waits_at_a_fifo_of_a_repository(void **state)
{
	static const char *const places[] = {"rm .git/config; mkfifo .git/config",
		"rm .git/refs/heads/main; mkfifo .git/refs/heads/main",
		"mkfifo p; printf '[include]\\n\\tpath = %s/p\\n' $PWD >>.git/config"};

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		autofree char *shell = str_format("rm -rf out%zu; cp -a src out%zu; cd out%zu; %s",
				      i, i, i, places[i]),
			      *name = str_format("out%zu", i), *path = scratch_path(*state, name),
			      *to = scratch_path(*state, "to");
		struct repo_source from = {.path = path};
		char commit[REPO_COMMIT_SIZE];
		int status = 0, waited = 0;
		pid_t child;

		assert_int_equal(scratch_shell(*state, shell), 0);
		child = fork();
		if (child == 0) {
			struct error err;

			_exit(repo_checkout(&from, to, commit, &err) < 0 ? 0 : 1);
		}
		while (waitpid(child, &status, WNOHANG) == 0 && waited++ < 200)
			usleep(100000);
		if (waited > 200) {
			kill(child, SIGKILL);
			waitpid(child, &status, 0);
		}
		assert_int_equal(status, 0);
	}
}

/* What is at "evil" is refused, and taken when it is trusted. */
static void leads_out(const struct scratch *s, const char *how, const char *what)
{
	autofree char *path = scratch_path(s, "evil"), *to = scratch_path(s, "to");
	struct repo_source from = {.path = path};
	char commit[REPO_COMMIT_SIZE];
	struct error err;

	assert_int_equal(scratch_shell(s, "rm -rf evil to"), 0);
	assert_int_equal(scratch_shell(s, how), 0);
	assert_int_equal(repo_checkout(&from, to, commit, &err), -1);
	assert_int_equal(err.code, ERR_ESCAPE);
	if (!strstr(err.msg, what))
		fail_msg("'%s' does not tell of %s", err.msg, what);
	assert_int_not_equal(access(to, F_OK), 0);
	assert_int_equal(repo_worktree_add(&from, "w", NULL, to, commit, &err), -1);
	assert_int_equal(err.code, ERR_ESCAPE);
	from.trusted = true;
	must(repo_export(&from, to, commit, &err), &err);
}

static void a_source_that_leads_elsewhere_is_refused(void **state)
{
	const struct scratch *s = *state;

	leads_out(s, "mkdir evil; echo \"gitdir: $PWD/src/.git\" >evil/.git", ".git");
	leads_out(s, "mkdir evil; ln -s ../src/.git evil/.git", ".git");
	leads_out(s, GIT_ENV "git clone -q --shared src evil", "alternates");
	leads_out(s,
		GIT_ENV
		"git clone -q src evil; rm -rf evil/.git/objects; ln -s ../../src/.git/objects "
		"evil/.git/objects",
		"objects");
	leads_out(s,
		GIT_ENV "git clone -q --no-hardlinks src evil; cd evil/.git/objects; d=$(ls | grep "
			"-v -e info -e pack | head -1); [ -n \"$d\" ] || d=$(ls -d pack); mv $d "
			"../kept; ln -s ../kept $d",
		"'");
	leads_out(s,
		"cp -a src evil; cd evil/.git; echo ../../src/.git >commondir; rm -rf objects refs",
		"commondir");
	/* It says that it is a worktree, and the repository knows nothing of it. */
	leads_out(s,
		"mkdir -p evil src/.git/worktrees/w; cp src/.git/HEAD src/.git/worktrees/w; echo "
		"../.. >src/.git/worktrees/w/commondir; echo \"$PWD/other/.git\" "
		">src/.git/worktrees/w/gitdir; echo \"gitdir: $PWD/src/.git/worktrees/w\" "
		">evil/.git",
		".git");
}

static void a_worktree_that_its_repository_knows_is_a_source(void **state)
{
	const struct scratch *s = *state;
	autofree char *path = scratch_path(s, "linked"), *to = scratch_path(s, "to");
	struct repo_source from = {.path = path};
	char commit[REPO_COMMIT_SIZE];
	struct error err;

	assert_int_equal(scratch_shell(s, GIT_ENV "cd src; git worktree add -q ../linked side"), 0);
	must(repo_checkout(&from, to, commit, &err), &err);
	assert_int_equal(scratch_shell(s, "[ -e to/side ]"), 0);
}

static void another_users_repository_is_refused(void **state)
{
	enum { SELF = 65534 };
	const struct scratch *s = *state;
	autofree char *path = scratch_path(s, "src"), *to = scratch_path(s, "to/x");
	struct repo_source from = {.path = path};
	int status;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	assert_int_equal(
		scratch_shell(s, "chmod 755 .; chown -R 12345 src; mkdir to; chown 65534 to"), 0);
	for (int trusted = 0; trusted < 2; trusted++) {
		pid = fork();
		if (pid == 0) {
			char commit[REPO_COMMIT_SIZE];
			struct error err = {0};

			from.trusted = trusted;
			if (setresuid(SELF, SELF, SELF) < 0)
				_exit(3);
			_exit(repo_checkout(&from, to, commit, &err) == 0 ? 0
				: err.code == ERR_ESCAPE		  ? 1
									  : 2);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(WEXITSTATUS(status), trusted ? 0 : 1);
	}
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, repo_setup, scratch_teardown)
	static const struct CMUnitTest tests[] = {
		CASE(a_checkout_is_clean_and_whole),
		CASE(branches_tags_and_commits_are_found),
		CASE(sparse_paths_are_marked_as_git_does),
		CASE(worktrees_come_and_go),
		CASE(a_source_that_leads_elsewhere_is_refused),
		CASE(a_worktree_that_its_repository_knows_is_a_source),
		CASE(another_users_repository_is_refused),
		CASE(states_are_told_apart),
		CASE(nothing_of_a_repository_is_run),
		CASE(a_configuration_leads_nowhere_else),
		CASE(hostile_trees_are_refused),
		CASE(a_commit_without_end_is_refused),
		CASE(nobody_waits_at_a_fifo_of_a_repository),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
