/* SPDX-License-Identifier: Apache-2.0 */
/* What init needs, worked out beforehand: see plan.h. */
#include "launch/plan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "launch/etc.h"
#include "launch/mounts.h"
#include "launch/sys.h"

/* A private copy over these would hide what makes the view, or show what it must not. */
static const char *const no_copy[] = {"/", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64",
	"/libx32", "/etc", "/dev", "/proc", "/sys"};
static const char *const no_copy_beneath[] = {"/dev/", "/proc/", "/sys/"};

static int check_copy(const char *dir, struct error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(no_copy); i++)
		if (strcmp(dir, no_copy[i]) == 0)
			return error_set(err, ERR_USAGE,
				"'%s' cannot be the working directory that is copied; change to a "
				"directory of your own",
				dir);
	for (size_t i = 0; i < ARRAY_LEN(no_copy_beneath); i++)
		if (strncmp(dir, no_copy_beneath[i], strlen(no_copy_beneath[i])) == 0)
			return error_set(err, ERR_USAGE,
				"'%s' cannot be copied: it is made by the kernel", dir);
	return 0;
}

static const char *what_of(enum plan_kind kind)
{
	return kind == PLAN_COPY ? "copy" : "bind";
}

static int place_init(struct plan *p, struct plan_place *at, struct error *err)
{
	struct stat st;

	at->tree = -1;
	if (p->spec->has_tree && at->source == p->contract->binds[0].source) {
		at->tree = fcntl(p->spec->tree, F_DUPFD_CLOEXEC, 0);
		at->mapped = at->directory = true;
		return at->tree < 0 ? error_sys(err, "bind '%s'", at->source) : 0;
	}
	if (stat(at->source, &st) < 0 && errno == ENOENT && at->kind == PLAN_COPY &&
		p->spec->is_image) {
		at->absent = at->directory = at->mapped = true;
		at->mode = 0755;
		return 0;
	}
	if (stat(at->source, &st) < 0)
		return error_sys(err, "%s '%s'", what_of(at->kind), at->source);
	at->directory = S_ISDIR(st.st_mode);
	/* A mount of it would succeed, and show the guest something that it cannot read. */
	if (faccessat(AT_FDCWD, at->source, at->directory ? R_OK | X_OK : R_OK, AT_EACCESS) < 0)
		return error_sys(err, "%s '%s'", what_of(at->kind), at->source);
	at->mode = st.st_mode & 07777;
	at->mtime = st.st_mtim;
	if (at->kind == PLAN_COPY && !at->directory)
		return error_set(err, ERR_USAGE, "copy '%s': not a directory", at->source);
	/* Init, who has lost root's rights by then, could not open what only root may. */
	if (p->ids.privileged && idmap_tree(&p->ids, at->source, &at->tree, &at->mapped, err) < 0)
		return error_wrap(err, "%s '%s'", what_of(at->kind), at->source);
	if (!p->ids.privileged)
		at->mapped = true;
	return 0;
}

/* A path that is part of another one is shorter: mounted by length, nothing hides what it holds. */
static int by_length(const void *a, const void *b)
{
	const struct plan_place *x = a, *y = b;
	size_t m = strlen(x->dest), n = strlen(y->dest);

	return m != n ? (m < n ? -1 : 1) : strcmp(x->dest, y->dest);
}

static int places_init(struct plan *p, struct error *err)
{
	const struct contract *c = p->contract;
	struct plan_place *at = p->places = mem_array(c->bind_count + 1, sizeof(*p->places));

	for (size_t i = 0; i < c->bind_count; i++)
		*at++ = (struct plan_place){.source = c->binds[i].source,
			.dest = c->binds[i].dest,
			.kind = c->binds[i].writable ? PLAN_WRITABLE : PLAN_READ_ONLY};
	p->copy_source = p->spec->is_image ? contract_copy_source(c) : NULL;
	if (c->copy_dir)
		*at++ = (struct plan_place){.source = p->copy_source ? p->copy_source : c->copy_dir,
			.dest = c->copy_dir,
			.kind = PLAN_COPY};
	qsort(p->places, (size_t)(at - p->places), sizeof(*at), by_length);
	for (size_t i = 0; i < (size_t)(at - p->places); i++) {
		struct plan_place *place = &p->places[i];

		if (place->kind == PLAN_COPY && check_copy(place->dest, err) < 0)
			return -1;
		if (strcmp(place->dest, "/") == 0)
			return error_set(err, ERR_USAGE,
				"nothing can be bound over '/'; use --rootfs for another root");
		p->place_count = i + 1;
		if (place_init(p, place, err) < 0)
			return -1;
		if (place->kind == PLAN_COPY)
			p->copy = place;
	}
	return 0;
}

static int etc_compare(const void *a, const void *b)
{
	const struct plan_etc *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* The entries of the directory that the view shows; name_prefix is "" or "ssl/". */
static void etc_scan(struct plan *p, const char *dir, const char *name_prefix)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		struct plan_etc *at;
		char path[320];
		struct stat st;

		snprintf(path, sizeof(path), "/etc/%s%s", name_prefix, e->d_name);
		if (!etc_is_shown(path + strlen("/etc/")) || lstat(path, &st) < 0)
			continue;
		p->etc = mem_grow(p->etc, p->etc_count + 1, sizeof(*p->etc));
		at = &p->etc[p->etc_count++];
		*at = (struct plan_etc){.path = mem_strdup(path), .type = st.st_mode & S_IFMT};
		at->name = at->path + strlen("/etc/");
	}
	if (d)
		closedir(d);
}

static void etc_init(struct plan *p)
{
	p->texts = mem_array(etc_file_count, sizeof(*p->texts));
	for (size_t i = 0; i < etc_file_count; i++)
		p->texts[i] = etc_text(&etc_files[i], p->contract);
	if (p->contract->rootfs)
		return;
	etc_scan(p, "/etc", "");
	etc_scan(p, "/etc/ssl", "ssl/");
	if (p->etc_count)
		qsort(p->etc, p->etc_count, sizeof(*p->etc), etc_compare);
}

static void number(char text[static 24], uint64_t value)
{
	snprintf(text, 24, "%llu", (unsigned long long)value);
}

int plan_init(struct plan *ret, const struct launch_spec *spec, const struct cgroup *cgroup,
	struct error *err)
{
	const struct contract *c = spec->contract;
	auto_plan struct plan p = {.spec = spec,
		.contract = c,
		.cgroup = cgroup,
		.ids = idmap_choose(),
		.rootfs_tree = -1,
		.sys = {.tree = -1}};
	struct stat st;

	number(p.tmp_size, c->tmp_bytes);
	number(p.tmp_inodes, c->tmp_inodes);
	number(p.copy_size, c->copy_bytes);
	number(p.copy_inodes, c->copy_inodes);
	number(p.last_pid, c->first_pid - 1);
	if (c->rootfs && (stat(c->rootfs, &st) < 0 || !S_ISDIR(st.st_mode))) {
		errno = errno == ENOENT ? ENOENT : ENOTDIR;
		return error_sys(err, "root file system '%s'", c->rootfs);
	}
	if (c->rootfs && p.ids.privileged &&
		(spec->is_image ? idmap_image(&p.ids, c->rootfs, c, &p.rootfs_tree, err)
				: mounts_clone(AT_FDCWD, c->rootfs, &p.rootfs_tree, err)) < 0)
		return error_wrap(err, "root file system");
	if (places_init(&p, err) < 0)
		return -1;
	etc_init(&p);
	p.sys_texts = sys_texts_new(p.contract);
	if (spec->state && c->deterministic && !c->rootfs)
		sys_kept_find(spec->state, c, &p.ids, p.sys_texts, &p.sys);
	*ret = p;
	p = (struct plan){.rootfs_tree = -1, .sys = {.tree = -1}};
	return 0;
}

void plan_finish(struct plan *p)
{
	for (size_t i = 0; i < p->place_count; i++)
		fd_close(&p->places[i].tree);
	mem_cleanup(&p->places);
	mem_cleanup(&p->copy_source);
	fd_close(&p->rootfs_tree);
	for (size_t i = 0; i < p->etc_count; i++)
		mem_cleanup(&p->etc[i].path);
	mem_cleanup(&p->etc);
	for (size_t i = 0; p->texts && i < etc_file_count; i++)
		mem_cleanup(&p->texts[i]);
	mem_cleanup(&p->texts);
	sys_texts_free(p->sys_texts);
	sys_kept_finish(&p->sys);
	*p = (struct plan){.rootfs_tree = -1, .sys = {.tree = -1}};
}
