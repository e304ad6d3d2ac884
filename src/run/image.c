/* SPDX-License-Identifier: Apache-2.0 */
/* --image: see image.h. */
#include "run/image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "wire/environment.h"

/* What makes the root, and what we mount over: nothing of it can have a written layer. */
static const char *const whole[] = {
	"/", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc"};
static const char *const ours[] = {"/dev", "/proc", "/sys", "/tmp"};

void run_image_finish(struct run_image *r)
{
	/* One that was never opened is all zeros. */
	if (r->store)
		image_finish(&r->image);
	images_close(r->store);
	*r = (struct run_image){0};
}

static int not_pinned(const char *text, const char *digest, struct error *err)
{
	auto_image_ref struct image_ref ref = {0};

	if (image_ref_parse(text, &ref, err) < 0)
		return -1;
	return error_set(err, ERR_USAGE,
		"--image '%.120s' has no digest, so it may be another image tomorrow; now it is: "
		"--image %.120s@%s (--allow-tag takes it as it is)",
		text, ref.name, digest);
}

static int open_ref(
	const struct image_ref *ref, run_say *say, struct run_image *ret, struct error *err)
{
	auto_run_image struct run_image r = {.image.lock = -1};

	if (images_open(CAS_WRITE, &r.store, err) < 0 ||
		image_find(r.store, ref, &r.image, err) < 0 ||
		image_use(r.store, &r.image, NULL, err) < 0)
		return -1;
	if (r.image.left_out > 0 && say) {
		autofree char *line = str_format(
			"the image was unpacked without %llu device nodes and attributes that this "
			"user cannot make",
			(unsigned long long)r.image.left_out);

		say(line);
	}
	r.is_pinned = ref->digest[0];
	*ret = r;
	r = (struct run_image){0};
	return 0;
}

int run_image_open(
	const struct run_options *o, run_say *say, struct run_image *ret, struct error *err)
{
	auto_image_ref struct image_ref ref = {0};

	if (o->rootfs)
		return error_set(err, ERR_USAGE, "--image and --rootfs are two roots: give one");
	if (image_ref_parse(o->image, &ref, err) < 0)
		return error_wrap(err, "--image");
	if (!ref.digest[0] && !o->allow_tag) {
		auto_images struct images *s = NULL;
		auto_image struct image i = {.lock = -1};

		if (images_open(CAS_READ, &s, err) < 0 || image_find(s, &ref, &i, err) < 0)
			return error_wrap(err, "--image");
		return not_pinned(o->image, i.digest, err);
	}
	return open_ref(&ref, say, ret, err) < 0 ? error_wrap(err, "--image") : 0;
}

int run_image_open_digest(const char *digest, struct run_image *ret, struct error *err)
{
	auto_image_ref struct image_ref ref = {0};

	if (image_ref_parse(digest, &ref, err) < 0)
		return -1;
	return open_ref(&ref, NULL, ret, err);
}

static size_t append(char ***list, size_t count, char *const *more)
{
	for (; more && *more; more++) {
		*list = mem_grow(*list, count + 2, sizeof(**list));
		(*list)[count++] = mem_strdup(*more);
		(*list)[count] = NULL;
	}
	return count;
}

static int build_argv(const struct image_config *config, const struct run_options *o,
	struct contract *c, struct error *err)
{
	char *given = (char *)(uintptr_t)o->entrypoint;
	char *alone[2] = {given && given[0] ? given : NULL, NULL};
	size_t count = append(&c->argv, 0, given ? alone : config->entrypoint);

	/* As docker has it: another entrypoint does not get the image's CMD. */
	if (o->argv && o->argv[0])
		count = append(&c->argv, count, o->argv);
	else if (!given)
		count = append(&c->argv, count, config->cmd);
	if (count == 0)
		return error_set(err, ERR_USAGE,
			"the image names no command: give one, for example: -- /bin/sh -c date");
	return 0;
}

int run_image_config(
	const struct image *i, const struct run_options *o, struct contract *c, struct error *err)
{
	const struct image_config *config = &i->config;
	const char *workdir = o->workdir ? o->workdir : config->workdir ? config->workdir : "/";

	if (build_argv(config, o, c, err) < 0)
		return -1;
	for (char **e = config->env; e && *e; e++) {
		const char *entry = *e;

		if (str_has_prefix(entry, "PATH=") &&
			environment_add(c, &entry, 1, "the image's PATH", err) < 0)
			return -1;
	}
	if (workdir[0] != '/')
		return error_set(err, ERR_USAGE, "%s '%.300s' is not an absolute path",
			o->workdir ? "--workdir" : "the image's WORKDIR", workdir);
	c->workdir = path_tidy(workdir);
	return image_user(i, o->user, &c->uid, &c->gid, err);
}

/* Where the path is when the symlinks in the root are followed; 0 when it is not there. */
static int resolve(const char *root, const char *path, char **ret, struct error *err)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
	autoclose int top = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
	char link[64], target[PATH_MAX];
	autofree char *real = realpath(root, NULL);
	struct stat st;
	ssize_t len;

	if (top < 0 || !real)
		return error_sys(err, "open '%s'", root);
	fd = (int)syscall(SYS_openat2, top, path, &how, sizeof(how));
	if (fd < 0)
		return errno == ENOENT ? 0 : error_sys(err, "'%.300s' in the image", path);
	if (fstat(fd, &st) < 0)
		return error_sys(err, "stat '%.300s' in the image", path);
	if (!S_ISDIR(st.st_mode))
		return error_set(err, ERR_NOT_DIR, "'%.300s' in the image is no directory", path);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, target, sizeof(target) - 1);
	if (len < 0 || (size_t)len < strlen(real) || strncmp(target, real, strlen(real)) != 0)
		return error_set(err, ERR_SYSTEM, "'%.300s' in the image cannot be named", path);
	target[len] = '\0';
	*ret = mem_strdup(target[strlen(real)] ? target + strlen(real) : "/");
	return 1;
}

int run_image_copy_dir(const struct image *i, const char *workdir, char **ret, struct error *err)
{
	autofree char *real = NULL;
	int found = resolve(i->root, workdir, &real, err);

	if (found < 0)
		return -1;
	*ret = NULL;
	if (!found)
		real = mem_strdup(workdir);
	for (size_t n = 0; n < ARRAY_LEN(whole); n++)
		if (strcmp(real, whole[n]) == 0)
			return 0;
	for (size_t n = 0; n < ARRAY_LEN(ours); n++)
		if (path_is_in(real, ours[n]))
			return 0;
	*ret = take_ptr(real);
	return 0;
}
