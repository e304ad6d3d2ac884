/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of snapshots: see snapshots.h. A tree of 10,000 entries and 206 MB; what it is compared
 * with gets the very bytes of its image, as one file. Everything is in the page cache.
 */
#include "snapshots.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/remove.h"
#include "base/str.h"
#include "cas/snapshot.h"
#include "process.h"

enum { DIRS = 100, FILES = 99, SIZE = 20808, CHANGED = 200, MS = 1000000 };

struct work {
	const struct bench *b;
	int top, tree;
	unsigned salt;
	struct least openssl, copy, walk, put, second;
};

/* Bytes that no two files have in common. */
static void write_file(struct work *w, int number)
{
	autofree char *path = str_format("d%d/f%d", number % DIRS, number / DIRS);
	autofree uint64_t *data = mem_alloc(SIZE + 8);
	autoclose int fd = openat(w->tree, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	uint64_t x = 88172645463325252u + (uint64_t)number * 0x9e3779b97f4a7c15u + w->salt;
	struct error e = {0};

	for (size_t i = 0; i < SIZE / 8; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		data[i] = x;
	}
	if (fd < 0)
		err(2, "%s", path);
	must(fd_write_all(fd, data, SIZE, &e), &e);
}

static void make_tree(struct work *w)
{
	for (int i = 0; i < DIRS; i++) {
		autofree char *path = str_format("d%d", i);

		if (mkdirat(w->tree, path, 0755) < 0)
			err(2, "%s", path);
	}
	for (int i = 0; i < DIRS * FILES; i++)
		write_file(w, i);
}

static void change_some(struct work *w)
{
	w->salt++;
	for (int i = 0; i < CHANGED; i++)
		write_file(w, i * (DIRS * FILES / CHANGED));
}

static struct cas *open_store(const struct work *w)
{
	autofree char *path = str_format("%s/store", w->b->dir);
	struct error e = {0};
	struct cas *c = NULL;

	must(cas_open(path, CAS_WRITE, &c, &e), &e);
	return c;
}

/* Nothing of the round before is left to be written. */
static void settle(struct work *w)
{
	struct error e = {0};

	must(remove_tree(w->top, "store", &e), &e);
	must(remove_tree(w->top, "copy", &e), &e);
	syncfs(w->top);
}

/* Two snapshots, the second of a tree that has changed. */
static void take_both(struct work *w)
{
	struct snapshot_policy policy = {0};
	char first[DIGEST_TEXT], second[DIGEST_TEXT];
	struct cas *c = open_store(w);
	struct error e = {0};
	uint64_t from = clock_host_ns();

	must(snapshot_freeze(w->tree, &policy, c, first, &e), &e);
	least_add(&w->put, clock_host_ns() - from);
	change_some(w);
	syncfs(w->top);
	policy.base = first;
	from = clock_host_ns();
	must(snapshot_freeze(w->tree, &policy, c, second, &e), &e);
	least_add(&w->second, clock_host_ns() - from);
	if (cas_verify(c, second, NULL, &e) != CAS_INTACT)
		errx(2, "the second snapshot is not intact: %s", e.msg);
	cas_close(c);
}

static void round_of(struct work *w)
{
	static const char *const openssl[] = {"openssl", "dgst", "-sha256", "image", NULL},
				 *const copy[] = {"sh", "-c", "cp image copy && sync copy", NULL};
	static const struct snapshot_policy policy = {0};
	char digest[DIGEST_TEXT];
	struct error e = {0};
	uint64_t from;

	least_add(&w->openssl, process_time(openssl, w->b->dir, NULL));
	from = clock_host_ns();
	must(snapshot_digest(w->tree, &policy, digest, &e), &e);
	least_add(&w->walk, clock_host_ns() - from);
	settle(w);
	least_add(&w->copy, process_time(copy, w->b->dir, NULL));
	settle(w);
	take_both(w);
	settle(w);
}

bool snapshot_rows(const struct bench *b)
{
	struct work w = {.b = b};
	struct snapshot_policy policy = {0};
	char digest[DIGEST_TEXT];
	struct error e = {0};
	struct cas *c;
	bool met;
	int image;

	w.top = open(b->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mkdirat(w.top, "tree", 0755) < 0)
		err(2, "%s/tree", b->dir);
	w.tree = openat(w.top, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	make_tree(&w);
	c = open_store(&w);
	must(snapshot_freeze(w.tree, &policy, c, digest, &e), &e);
	image = openat(w.top, "image", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	must(cas_get_fd(c, digest, image, NULL, &e), &e);
	close(image);
	cas_close(c);
	settle(&w);
	for (int i = 0; i < b->rounds; i++)
		round_of(&w);
	met = print_ratio("hash of a tree of 10,000 entries, 206 MB", 1.5, &w.walk,
		"`openssl dgst`", &w.openssl);
	met = print_ratio("snapshot of it into the store, durable", 1.3, &w.put, "`cp` and fsync",
		      &w.copy) &&
	      met;
	met = print_ratio("another after 200 files changed, durable, against the hash of the first",
		      1, &w.second, "hash", &w.walk) &&
	      met;
	close(w.tree);
	must(remove_tree(w.top, "tree", &e), &e);
	must(remove_tree(w.top, "image", &e), &e);
	close(w.top);
	return met;
}
