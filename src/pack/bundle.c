/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over a pack, its hashes and its copy: see bundle.h. */
#include "pack/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "pack/nfc.h"

/* 2023-11-14T22:13:20Z, at which a deterministic run begins. */
enum { COPIED_TIME = 1700000000, CHUNK = 64 * 1024 };

void bundle_finish(struct bundle *b)
{
	for (size_t i = 0; i < b->count; i++)
		free(b->paths[i]);
	free(b->paths);
	*b = (struct bundle){0};
}

bool bundle_is_pin(const char *text)
{
	return str_has_prefix(text, "sha256:") && strlen(text) == DIGEST_TEXT - 1 &&
	       strspn(text + 7, "0123456789abcdef") == DIGEST_HEX - 1;
}

static int by_bytes(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

bool bundle_has(const struct bundle *b, const char *path)
{
	return b->count && bsearch(&path, b->paths, b->count, sizeof(*b->paths), by_bytes) != NULL;
}

struct walk {
	struct bundle *b;
	struct faults *faults;
};

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), e = strlen(end);

	return n >= e && strcmp(name + n - e, end) == 0;
}

static int walk_dir(
	const struct walk *w, int dir, const char *prefix, int depth, struct error *err);

/* One entry by the rules of the page, in their order. */
static int walk_entry(const struct walk *w, int dir, const char *name, const char *prefix,
	int depth, struct error *err)
{
	autofree char *path = str_format("%s%s", prefix, name), *below = NULL;
	autoclose int sub = -1;
	struct stat st;

	if (name[0] == '.')
		return 0;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return error_sys(err, "look at '%s'", path);
	if (S_ISLNK(st.st_mode)) {
		faults_add(w->faults, "'%s' is a symbolic link", path);
		return 0;
	}
	if (S_ISDIR(st.st_mode)) {
		if (strcmp(name, "__pycache__") == 0)
			return 0;
		sub = beneath_open(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
		if (sub < 0)
			return error_sys(err, "open '%s'", path);
		below = str_format("%s/", path);
		return walk_dir(w, sub, below, depth + 1, err);
	}
	if (!S_ISREG(st.st_mode) || ends_with(name, ".pyc"))
		return 0;
	if (!str_is_utf8(path, strlen(path))) {
		faults_add(w->faults, "the path '%s' is not UTF-8", path);
		return 0;
	}
	if (!nfc_is(path, strlen(path)))
		faults_add(w->faults, "the path '%s' is not in Unicode's form NFC", path);
	if (w->b->count == BUNDLE_FILES_MAX || strlen(path) > BUNDLE_PATH_MAX)
		return error_set(err, ERR_LIMIT, "more than %d files, or a path over %d bytes",
			BUNDLE_FILES_MAX, BUNDLE_PATH_MAX);
	w->b->paths = mem_grow(w->b->paths, w->b->count + 1, sizeof(*w->b->paths));
	w->b->paths[w->b->count++] = take_ptr(path);
	return 0;
}

static int walk_dir(const struct walk *w, int dir, const char *prefix, int depth, struct error *err)
{
	auto_names struct beneath_names names = {0};

	if (depth > BUNDLE_DEPTH_MAX)
		return error_set(err, ERR_LIMIT, "directories deeper than %d", BUNDLE_DEPTH_MAX);
	if (beneath_list(dir, BUNDLE_FILES_MAX, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		if (walk_entry(w, dir, names.items[i], prefix, depth, err) < 0)
			return -1;
	return 0;
}

/* The new file of this path below `to`, with the directories above it. */
static int make_file(int to, const char *path, int *ret, struct error *err)
{
	autofree char *copy = mem_strdup(path);

	for (char *slash = strchr(copy, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdirat(to, copy, 0755) < 0 && errno != EEXIST)
			return error_sys(err, "make '%s'", copy);
		*slash = '/';
	}
	*ret = openat(to, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0555);
	return *ret < 0 ? error_sys(err, "make '%s'", path) : 0;
}

struct hashes {
	struct digest *bundle, *content; /* content NULL: the file is not of it */
};

static void update(const struct hashes *h, const void *data, size_t len)
{
	digest_update(h->bundle, data, len);
	if (h->content)
		digest_update(h->content, data, len);
}

/* Size and bytes of one file into the hashes, and the bytes into `out` unless it is -1. */
static int take_bytes(
	int in, int out, uint64_t size, const struct hashes *h, const char *path, struct error *err)
{
	autofree unsigned char *data = mem_alloc(CHUNK);
	unsigned char be[8];
	uint64_t left = size;

	for (int i = 0; i < 8; i++)
		be[i] = (unsigned char)(size >> (56 - 8 * i));
	update(h, be, sizeof(be));
	for (;;) {
		ssize_t n = read(in, data, CHUNK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "read '%s'", path);
		if ((uint64_t)n > left || (n == 0 && left))
			return error_set(err, ERR_BUSY, "'%s' changed while it was read", path);
		if (n == 0)
			return 0;
		left -= (uint64_t)n;
		update(h, data, (size_t)n);
		if (out >= 0 && fd_write_all(out, data, (size_t)n, err) < 0)
			return error_wrap(err, "copy '%s'", path);
	}
}

static int take_file(int dir, int to, const char *path, struct bundle *b, const struct hashes *h,
	struct error *err)
{
	const struct timespec times[2] = {{.tv_sec = COPIED_TIME}, {.tv_sec = COPIED_TIME}};
	autoclose int in = -1, out = -1;
	struct stat st;

	in = beneath_open_file(dir, path, &st);
	if (in < 0)
		return error_sys(err, "open '%s'", path);
	b->bytes += (uint64_t)st.st_size;
	if (b->bytes > BUNDLE_BYTES_MAX)
		return error_set(err, ERR_LIMIT, "more than %llu bytes",
			(unsigned long long)BUNDLE_BYTES_MAX);
	if (to >= 0 && make_file(to, path, &out, err) < 0)
		return -1;
	update(h, path, strlen(path) + 1); /* with the NUL */
	if (take_bytes(in, out, (uint64_t)st.st_size, h, path, err) < 0)
		return -1;
	if (out >= 0 && (fchmod(out, 0555) < 0 || futimens(out, times) < 0))
		return error_sys(err, "copy '%s'", path);
	return 0;
}

int bundle_take(int dir, int to, struct bundle *ret, struct faults *faults, struct error *err)
{
	auto_bundle struct bundle b = {0};
	auto_digest struct digest *bundle = digest_new(), *content = digest_new();
	size_t before = faults->count;

	if (walk_dir(&(struct walk){&b, faults}, dir, "", 0, err) < 0)
		return -1;
	if (b.count)
		qsort(b.paths, b.count, sizeof(*b.paths), by_bytes);
	for (size_t i = 0; i < b.count && faults->count == before; i++) {
		bool is_manifest = strcmp(b.paths[i], "manifest.toml") == 0;
		struct hashes h = {bundle, is_manifest ? NULL : content};

		if (take_file(dir, to, b.paths[i], &b, &h, err) < 0)
			return -1;
	}
	digest_text(bundle, b.digest);
	digest_text(content, b.content);
	*ret = b;
	b = (struct bundle){0};
	return 0;
}
