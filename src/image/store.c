/* SPDX-License-Identifier: Apache-2.0 */
/* Where images lie, and the locks on it: see inside.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/dir.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/random.h"
#include "base/remove.h"
#include "config/paths.h"
#include "image/inside.h"

enum { SWEEP_MAX = 100000, TRIES = 100 };

const char *image_hex(const char digest[DIGEST_TEXT])
{
	return digest + strlen("sha256:");
}

void image_root_name(char ret[IMAGE_ROOT_NAME], const char digest[DIGEST_TEXT], const char *part)
{
	snprintf(ret, IMAGE_ROOT_NAME, "image.%.64s%s%.20s", image_hex(digest), part ? "." : "",
		part ? part : "");
}

int images_dir(const struct images *s, const char *name, int *ret_fd, struct error *err)
{
	if (s->is_writable && mkdirat(s->dir, name, 0700) < 0 && errno != EEXIST)
		return error_sys(err, "make '%s/%s'", s->path, name);
	*ret_fd = openat(s->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *ret_fd < 0 ? error_sys(err, "open '%s/%s'", s->path, name) : 0;
}

int images_lock(
	const struct images *s, const char *name, int operation, int *ret_fd, struct error *err)
{
	autoclose int fd = openat(s->dir, name, O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return error_sys(err, "open '%s/%s'", s->path, name);
	do {
		r = flock(fd, operation);
	} while (r < 0 && errno == EINTR);
	if (r < 0)
		return errno == EWOULDBLOCK ? error_set(err, ERR_BUSY, "somebody uses it")
					    : error_sys(err, "lock '%s/%s'", s->path, name);
	*ret_fd = take_fd(fd);
	return 0;
}

int images_tmp_make(
	const struct images *s, char ret_name[IMAGE_TMP_NAME], int *ret_fd, struct error *err)
{
	autoclose int tmp = -1;

	if (images_dir(s, "tmp", &tmp, err) < 0)
		return -1;
	for (int i = 0; i < TRIES; i++) {
		autoclose int fd = -1;
		struct stat st;

		random_hex(ret_name, IMAGE_TMP_NAME - 1);
		if (mkdirat(tmp, ret_name, 0700) < 0)
			return error_sys(err, "make '%s/tmp/%s'", s->path, ret_name);
		fd = openat(tmp, ret_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		/* Whoever sweeps may have been faster: then it is gone. */
		if (fd < 0 || flock(fd, LOCK_EX) < 0 || fstat(fd, &st) < 0 || st.st_nlink == 0)
			continue;
		*ret_fd = take_fd(fd);
		return 0;
	}
	return error_set(err, ERR_BUSY, "no directory stays in '%s/tmp'", s->path);
}

/* What killed makers have left. */
static void sweep_tmp(const struct images *s)
{
	auto_names struct beneath_names names = {0};
	autoclose int tmp = -1;
	struct error err;

	if (images_dir(s, "tmp", &tmp, &err) < 0 || beneath_list(tmp, SWEEP_MAX, &names, &err) < 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		autoclose int fd = openat(
			tmp, names.items[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
			(void)!remove_tree(tmp, names.items[i], &err);
	}
}

int images_open(enum cas_mode mode, struct images **ret, struct error *err)
{
	autofree char *state = NULL, *cas = NULL;
	auto_images struct images *s = mem_alloc(sizeof(*s));

	s->dir = -1;
	s->is_writable = mode == CAS_WRITE;
	if (paths_find(PATHS_STATE, &state, err) < 0)
		return -1;
	s->path = path_join(state, "images");
	cas = path_join(state, "cas");
	if (s->is_writable && dir_make(s->path, err) < 0)
		return -1;
	s->dir = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0)
		return errno == ENOENT
			       ? error_set(err, ERR_MISSING,
					 "there are no images yet; 'sandglass image pull' or "
					 "'sandglass image import' gets one")
			       : error_sys(err, "open '%s'", s->path);
	if (cas_open(cas, mode, &s->cas, err) < 0)
		return -1;
	if (s->is_writable)
		sweep_tmp(s);
	*ret = take_ptr(s);
	return 0;
}

void images_close(struct images *s)
{
	if (!s)
		return;
	cas_close(s->cas);
	fd_close(&s->dir);
	free(s->path);
	free(s);
}

void images_cleanup(struct images **s)
{
	images_close(*s);
}

void image_finish(struct image *i)
{
	image_config_finish(&i->config);
	image_manifest_finish(&i->manifest);
	free(i->root);
	/* Of a struct that was never filled it is 0, which is nobody's lock. */
	if (i->lock > 0)
		fd_close(&i->lock);
	*i = (struct image){.lock = -1};
}

static int next(void *context, const void **ret_data, size_t *ret_len, struct error *err)
{
	struct image_stream *s = context;
	int got = s->ended ? 0
			   : cas_reader_next(s->reader, s->buffer, sizeof(s->buffer), ret_len, err);

	s->ended = got == 0;
	if (got <= 0)
		return got;
	s->done += *ret_len;
	if (s->progress && s->progress->call)
		s->progress->call(s->progress->context, s->done);
	*ret_data = s->buffer;
	return 1;
}

static void seen(void *context, const void *data, size_t len)
{
	struct image_stream *s = context;

	if (s->diff)
		digest_update(s->diff, data, len);
}

int image_stream_open(struct images *s, const char *digest, bool wants_diff,
	struct image_stream **ret, struct error *err)
{
	auto_image_stream struct image_stream *stream = mem_alloc(sizeof(*stream));

	if (cas_reader_open(s->cas, digest, &stream->reader, err) < 0)
		return -1;
	stream->diff = wants_diff ? digest_new() : NULL;
	*ret = take_ptr(stream);
	return 0;
}

struct archive_input image_stream_input(struct image_stream *s)
{
	return (struct archive_input){.next = next, .seen = seen, .context = s};
}

void image_stream_close(struct image_stream **s)
{
	if (!*s)
		return;
	cas_reader_close((*s)->reader);
	digest_free((*s)->diff);
	free(*s);
}
