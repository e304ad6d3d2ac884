/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive.h for programs that rarely need it: the real functions are in sandglass-image.so, which
 * is loaded at the first call of one of these.
 */
#include "config/module.h"
#include "image/archive.h"

static struct module module = {"sandglass-image.so", NULL};

int archive_tree_open(
	int dir, const struct archive_bounds *bounds, struct archive_tree **ret, struct error *err)
{
	typeof(archive_tree_open) *f;

	return module_find(&module, "archive_tree_open", &f, err) ? f(dir, bounds, ret, err) : -1;
}

void archive_tree_close(struct archive_tree *t)
{
	typeof(archive_tree_close) *f;
	struct error err;

	/* Whoever has one has loaded it. */
	if (t && module_find(&module, "archive_tree_close", &f, &err))
		f(t);
}

int archive_apply(
	struct archive_tree *t, const struct archive_input *in, bool plain, struct error *err)
{
	typeof(archive_apply) *f;

	return module_find(&module, "archive_apply", &f, err) ? f(t, in, plain, err) : -1;
}

int archive_settle(struct archive_tree *t, struct archive_counts *ret, struct error *err)
{
	typeof(archive_settle) *f;

	return module_find(&module, "archive_settle", &f, err) ? f(t, ret, err) : -1;
}

int archive_look(const struct archive_input *in, uint64_t max_bytes, struct error *err)
{
	typeof(archive_look) *f;

	return module_find(&module, "archive_look", &f, err) ? f(in, max_bytes, err) : -1;
}

int archive_guess(int fd, enum archive_kind *ret, struct error *err)
{
	typeof(archive_guess) *f;

	return module_find(&module, "archive_guess", &f, err) ? f(fd, ret, err) : -1;
}

int archive_pack(int dir, int fd, const struct archive_bounds *bounds, struct error *err)
{
	typeof(archive_pack) *f;

	return module_find(&module, "archive_pack", &f, err) ? f(dir, fd, bounds, err) : -1;
}
