/* SPDX-License-Identifier: Apache-2.0 */
/* Drafting a manifest: see draft.h. */
#include "replicate/draft.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "codec/json.h"
#include "crypto/digest.h"
#include "git/repo.h"
#include "replicate/claim.h"

enum { DEPTH_MAX = 64 };

struct unclean {
	char first[256];
	size_t count;
};

static void take_difference(void *arg, enum repo_difference what, const char *path)
{
	struct unclean *u = arg;
	autofree char *safe = str_printable(path, strlen(path), 200);

	if (what == REPO_SUBMODULE || what == REPO_LFS_POINTER || u->count++ > 0)
		return;
	snprintf(u->first, sizeof(u->first), "%s", safe);
}

static int read_code(const struct draft *d, json_t *o, struct error *err)
{
	char commit[REPO_COMMIT_SIZE];
	struct unclean u = {0};
	size_t files;

	if (repo_verify(d->code, take_difference, &u, commit, &files, err) < 0)
		return error_wrap(err, "--code-dir");
	if (u.count > 0)
		return error_set(err, ERR_USAGE,
			"--code-dir '%.150s' is not its commit: %zu differences, the first is "
			"'%.200s'",
			d->code, u.count, u.first);
	json_put(o, "commit", json_str(commit));
	return 0;
}

static json_t *data_json(const char *path, const char *digest, uint64_t size)
{
	json_t *o = json_object();

	json_put(o, "name", json_str(path));
	json_put(o, "path", json_str(path));
	json_put(o, "sha256", json_str(digest));
	json_put(o, "bytes", json_u64(size));
	return o;
}

static int read_data(int dir, const char *path, unsigned depth, json_t *list, struct error *err)
{
	auto_names struct beneath_names names = {0};

	if (beneath_list(dir, CLAIM_DATA_MAX, &names, err) < 0)
		return error_wrap(err, "--data-dir");
	for (size_t i = 0; i < names.count; i++) {
		autofree char *whole = path[0] ? str_format("%s/%s", path, names.items[i])
					       : mem_strdup(names.items[i]);
		autofree char *safe = str_printable(whole, strlen(whole), 200);
		struct stat st;
		autoclose int fd = beneath_open_file(dir, names.items[i], &st);
		char digest[DIGEST_TEXT];
		uint64_t size;

		if (fd < 0 && S_ISDIR(st.st_mode) && depth < DEPTH_MAX) {
			fd = beneath_open(dir, names.items[i], O_RDONLY | O_DIRECTORY, 0);
			if (fd < 0 || read_data(fd, whole, depth + 1, list, err) < 0)
				return fd < 0 ? error_sys(err, "--data-dir: '%s'", safe) : -1;
			continue;
		}
		if (fd < 0 || !str_is_utf8(whole, strlen(whole)))
			return error_set(err, ERR_USAGE,
				"--data-dir: '%s' is no file that can be read, or its name no text",
				safe);
		if (digest_of_fd(fd, digest, &size, err) < 0)
			return error_wrap(err, "--data-dir: '%s'", safe);
		if (json_array_size(list) == CLAIM_DATA_MAX)
			return error_set(err, ERR_LIMIT, "more than %d data sets", CLAIM_DATA_MAX);
		json_add(list, data_json(whole, digest, size));
	}
	return 0;
}

static int read_image(const struct draft *d, json_t *o, struct error *err)
{
	const char *at = strrchr(d->image, '@');

	if (!at || strlen(at + 1) != DIGEST_TEXT - 1 || !str_has_prefix(at + 1, "sha256:"))
		return error_set(
			err, ERR_USAGE, "--image '%.200s' is not NAME@sha256:DIGITS", d->image);
	json_put(o, "digest", json_str(at + 1));
	return 0;
}

/* To be filled in: the claim's own number. */
static json_t *targets_json(void)
{
	json_t *list = json_array(), *target = json_object(), *tolerance = json_object();

	json_put(tolerance, "absolute", json_u64(0));
	json_put(target, "name", json_str("result"));
	json_put(target, "value", json_u64(0));
	json_put(target, "tolerance", tolerance);
	json_add(list, target);
	return list;
}

int draft_make(const struct draft *d, char **ret, struct error *err)
{
	autoclose int dir = open(d->data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_json json_t *o = json_object();
	json_t *claim = json_object(), *code = json_object(), *data = json_array(),
	       *image = json_object();
	autofree char *text = NULL;

	json_put(claim, "id", json_str(d->id ? d->id : "claim-0001"));
	json_put(o, "format", json_str(CLAIM_FORMAT));
	json_put(o, "claim", claim);
	json_put(o, "code", code);
	json_put(o, "data", data);
	json_put(o, "image", image);
	if (dir < 0)
		return error_sys(err, "--data-dir '%.300s'", d->data);
	if (read_image(d, image, err) < 0 || read_code(d, code, err) < 0 ||
		read_data(dir, "", 0, data, err) < 0)
		return -1;
	json_put(o, "entrypoint", json_str(d->entrypoint ? d->entrypoint : "sh run.sh"));
	json_put(o, "targets", targets_json());
	text = json_dumps(o, JSON_INDENT(2));
	if (!text)
		abort();
	*ret = str_format("%s\n", text);
	return 0;
}
