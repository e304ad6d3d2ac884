/* SPDX-License-Identifier: Apache-2.0 */
/* Taking the output of an analysis: see output.h. */
#include "replicate/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "crypto/digest.h"

enum { DEPTH_MAX = 32, CHUNK = 256 * 1024 };

struct taking {
	const struct claim_limits *limits;
	struct findings *findings;
	unsigned run;
	json_t *list;
	uint64_t bytes, files;
	bool is_full; /* a limit was reached: nothing more is read */
};

static void find(struct taking *t, enum finding what, const char *path)
{
	findings_add(t->findings, what, t->run, "%s", path);
}

static int copy(int from, int to, uint64_t max, struct digest *d, uint64_t *ret, struct error *err)
{
	autofree char *data = mem_alloc(CHUNK);
	uint64_t total = 0;
	ssize_t n;

	/* It may not grow while we read: all that wrote is dead. Yet nothing depends on that. */
	while (total <= max && (n = read(from, data, CHUNK)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "read the output");
		digest_update(d, data, (size_t)n);
		if (to >= 0 && fd_write_all(to, data, (size_t)n, err) < 0)
			return error_wrap(err, "copy the output");
		total += (uint64_t)n;
	}
	*ret = total;
	return 0;
}

static int take_file(
	struct taking *t, int from, int to, const char *name, const char *path, struct error *err)
{
	struct digest *CLEANUP(digest_cleanup) digest = digest_new();
	uint64_t left = t->limits->output_bytes - t->bytes, size = 0;
	autoclose int in = -1, out = -1;
	char text[DIGEST_TEXT];
	struct stat st;
	json_t *o;

	in = beneath_open_file(from, name, &st);
	if (in < 0) {
		find(t, FINDING_OUTPUT_UNREADABLE, path);
		return 0;
	}
	if ((uint64_t)st.st_size > left) {
		findings_add(t->findings, FINDING_OUTPUT_BYTES, t->run, "more than %llu, with %s",
			(unsigned long long)t->limits->output_bytes, path);
		t->is_full = true;
		return 0;
	}
	if (to >= 0) {
		out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
		if (out < 0)
			return error_sys(err, "make a file in the output directory");
	}
	if (copy(in, out, left, digest, &size, err) < 0)
		return -1;
	digest_text(digest, text);
	t->bytes += size;
	o = json_object();
	json_put(o, "path", json_str(path));
	json_put(o, "bytes", json_u64(size));
	json_put(o, "sha256", json_str(text));
	json_add(t->list, o);
	return 0;
}

static int take_dir(
	struct taking *t, int from, int to, const char *path, unsigned depth, struct error *err);

static int take_below(struct taking *t, int from, int to, const char *name, const char *path,
	unsigned depth, struct error *err)
{
	autoclose int in = beneath_open(from, name, O_RDONLY | O_DIRECTORY, 0), out = -1;

	if (in < 0) {
		find(t, FINDING_OUTPUT_UNREADABLE, path);
		return 0;
	}
	if (to >= 0 && (mkdirat(to, name, 0755) < 0 ||
			       (out = openat(to, name,
					O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0))
		return error_sys(err, "make a directory in the output directory");
	return take_dir(t, in, out, path, depth + 1, err);
}

static int take_entry(struct taking *t, int from, int to, const char *name, const char *path,
	unsigned depth, struct error *err)
{
	struct stat st;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		find(t, FINDING_OUTPUT_UNREADABLE, path);
		return 0;
	}
	if (++t->files > t->limits->output_files) {
		findings_add(t->findings, FINDING_OUTPUT_FILES, t->run, "more than %llu",
			(unsigned long long)t->limits->output_files);
		t->is_full = true;
		return 0;
	}
	if (S_ISREG(st.st_mode))
		return take_file(t, from, to, name, path, err);
	if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
		return take_below(t, from, to, name, path, depth, err);
	if (S_ISDIR(st.st_mode))
		findings_add(t->findings, FINDING_OUTPUT_DEPTH, t->run, "more than %d levels",
			DEPTH_MAX);
	else
		find(t, S_ISLNK(st.st_mode) ? FINDING_OUTPUT_SYMLINK : FINDING_OUTPUT_SPECIAL,
			path);
	return 0;
}

static int take_dir(
	struct taking *t, int from, int to, const char *path, unsigned depth, struct error *err)
{
	auto_names struct beneath_names names = {0};
	struct error why = {0};

	if (beneath_list(from, t->limits->output_files, &names, &why) < 0) {
		findings_add(t->findings,
			why.code == ERR_LIMIT ? FINDING_OUTPUT_FILES : FINDING_OUTPUT_UNREADABLE,
			t->run, "%s", why.msg);
		t->is_full = true;
		return 0;
	}
	for (size_t i = 0; i < names.count && !t->is_full; i++) {
		autofree char *whole = path[0] ? str_format("%s/%s", path, names.items[i])
					       : mem_strdup(names.items[i]);

		if (take_entry(t, from, to, names.items[i], whole, depth, err) < 0)
			return -1;
	}
	return 0;
}

int output_take(int from, int to, const struct claim_limits *limits, unsigned run,
	struct findings *findings, json_t **ret, struct error *err)
{
	auto_json json_t *list = json_array();
	struct taking t = {.limits = limits, .findings = findings, .run = run, .list = list};

	if (take_dir(&t, from, to, "", 0, err) < 0)
		return -1;
	*ret = json_incref(list);
	return 0;
}
