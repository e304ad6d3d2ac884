/* SPDX-License-Identifier: Apache-2.0 */
/* Verifying inputs: see inputs.h. */
#include "replicate/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "crypto/digest.h"
#include "git/repo.h"

enum { CHUNK = 1 << 20, NAMES_MAX = 1000000, DEPTH_MAX = 64, NOTES_MAX = 100 };

struct checking {
	const struct claim *claim;
	struct findings *findings;
	inputs_progress *progress;
	uint64_t bytes; /* read so far */
	char *chunk;
};

/* The digest of the whole file, however large; no more than `max` bytes of it are read. */
static int digest_file(struct checking *c, int fd, uint64_t max, char ret[DIGEST_TEXT],
	uint64_t *ret_size, struct error *err)
{
	struct digest *CLEANUP(digest_cleanup) d = digest_new();
	ssize_t n;

	*ret_size = 0;
	/* The next chunk is on its way while this one is hashed. */
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	while (*ret_size <= max && (n = read(fd, c->chunk, CHUNK)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "read a data set");
		digest_update(d, c->chunk, (size_t)n);
		*ret_size += (uint64_t)n;
		c->bytes += (uint64_t)n;
		c->progress(c->bytes);
	}
	digest_text(d, ret);
	return 0;
}

static json_t *found(const struct claim_data *d, uint64_t bytes, const char *digest)
{
	json_t *o = json_object();

	json_put(o, "name", json_str(d->name));
	json_put(o, "path", json_str(d->path));
	json_put(o, "bytes", digest ? json_u64(bytes) : json_null());
	json_put(o, "sha256", digest ? json_str(digest) : json_null());
	return o;
}

static int check_data(
	struct checking *c, int dir, const struct claim_data *d, json_t *list, struct error *err)
{
	char digest[DIGEST_TEXT];
	struct stat st;
	autoclose int fd = beneath_open_file(dir, d->path, &st);
	uint64_t size;

	if (fd < 0 && (errno == EACCES || errno == EPERM || errno == EIO))
		return error_sys(err, "open the data set '%.200s'", d->path);
	if (fd < 0) {
		findings_add(c->findings,
			errno == ENOENT || errno == ENOTDIR ? FINDING_DATA_MISSING
							    : FINDING_DATA_SPECIAL,
			0, "%s", d->path);
		json_add(list, found(d, 0, NULL));
		return 0;
	}
	if ((uint64_t)st.st_size != d->bytes) {
		findings_add(c->findings, FINDING_DATA_SIZE, 0, "%s: %llu bytes, claimed %llu",
			d->path, (unsigned long long)st.st_size, (unsigned long long)d->bytes);
		json_add(list, found(d, 0, NULL));
		return 0;
	}
	if (digest_file(c, fd, d->bytes, digest, &size, err) < 0)
		return error_wrap(err, "'%.200s'", d->path);
	if (size != d->bytes || strcmp(digest, d->digest) != 0)
		findings_add(c->findings, FINDING_DATA_DIGEST, 0, "%s: %s, claimed %s", d->path,
			digest, d->digest);
	json_add(list, found(d, size, digest));
	return 0;
}

static bool is_claimed(const struct claim *c, const char *path, bool is_dir)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < c->data_count; i++) {
		const char *at = c->data[i].path;

		if (is_dir ? strncmp(at, path, len) == 0 && at[len] == '/' : strcmp(at, path) == 0)
			return true;
	}
	return false;
}

/* Directories are no files: one in which nothing extra lies is allowed. */
static int check_extra(
	struct checking *c, int dir, const char *path, unsigned depth, struct error *err)
{
	auto_names struct beneath_names names = {0};

	if (beneath_list(dir, NAMES_MAX, &names, err) < 0)
		return error_wrap(err, "the data directory");
	for (size_t i = 0; i < names.count; i++) {
		autofree char *whole = path[0] ? str_format("%s/%s", path, names.items[i])
					       : mem_strdup(names.items[i]);
		struct stat st;
		bool is_dir = fstatat(dir, names.items[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			      S_ISDIR(st.st_mode);

		if (!is_claimed(c->claim, whole, is_dir)) {
			findings_add(c->findings, FINDING_DATA_EXTRA, 0, "%s%s", whole,
				is_dir ? "/" : "");
			continue;
		}
		if (is_dir && depth < DEPTH_MAX) {
			autoclose int below =
				beneath_open(dir, names.items[i], O_RDONLY | O_DIRECTORY, 0);

			if (below < 0)
				return error_sys(err, "look into the data directory");
			if (check_extra(c, below, whole, depth + 1, err) < 0)
				return -1;
		}
	}
	return 0;
}

int inputs_data(int dir, const struct claim *claim, bool allow_extra, inputs_progress *progress,
	struct findings *findings, json_t **ret, struct error *err)
{
	auto_json json_t *list = json_array();
	autofree char *chunk = mem_alloc(CHUNK);
	struct checking c = {claim, findings, progress, 0, chunk};

	for (size_t i = 0; i < claim->data_count; i++)
		if (check_data(&c, dir, &claim->data[i], list, err) < 0)
			return -1;
	if (!allow_extra && check_extra(&c, dir, "", 0, err) < 0)
		return -1;
	*ret = json_incref(list);
	return 0;
}

struct code {
	struct findings *findings;
	json_t *notes;
};

static void take_difference(void *arg, enum repo_difference what, const char *path)
{
	static const struct {
		enum finding finding; /* FINDINGS: a note */
		const char *words;
	} rows[] = {
		[REPO_MODIFIED] = {FINDING_CODE_MODIFIED, ""},
		[REPO_DELETED] = {FINDING_CODE_DELETED, ""},
		[REPO_EXTRA] = {FINDING_CODE_EXTRA, ""},
		[REPO_STAGED] = {FINDING_CODE_STAGED, ""},
		[REPO_SUBMODULE] = {FINDINGS, "a submodule whose files are not here"},
		[REPO_SUBMODULE_FILES] = {FINDING_CODE_SUBMODULE,
			": name its files as data, or leave the directory empty"},
		[REPO_LFS_POINTER] = {FINDINGS,
			"a pointer of Git LFS: the content that it names is not here"},
		[REPO_LFS_CONTENT] = {FINDING_CODE_LFS,
			": check out with GIT_LFS_SKIP_SMUDGE=1, and name the content as data"},
	};
	struct code *c = arg;

	if (rows[what].finding < FINDINGS) {
		findings_add(c->findings, rows[what].finding, 0, "%s%s", path, rows[what].words);
	} else if (json_array_size(c->notes) < NOTES_MAX) {
		autofree char *safe = str_printable(path, strlen(path), 200);
		autofree char *line = str_format("%s: %s", safe, rows[what].words);

		json_add(c->notes, json_str(line));
	}
}

int inputs_code(const char *dir, const struct claim *claim, struct findings *findings, json_t **ret,
	struct error *err)
{
	auto_json json_t *o = json_object();
	struct code c = {findings, json_array()};
	char commit[REPO_COMMIT_SIZE];
	size_t files;

	json_put(o, "notes", c.notes);
	if (repo_verify(dir, take_difference, &c, commit, &files, err) < 0)
		return error_wrap(err, "--code-dir");
	if (strcmp(commit, claim->commit) != 0)
		findings_add(
			findings, FINDING_CODE_COMMIT, 0, "%s, claimed %s", commit, claim->commit);
	json_put(o, "commit", json_str(commit));
	json_put(o, "files", json_u64(files));
	*ret = json_incref(o);
	return 0;
}
