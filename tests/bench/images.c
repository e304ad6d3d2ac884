/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of images: see images.h. An image of one layer with a static program and 4,000 files of
 * 50 KiB, 205 MB; tar(1) unpacks the very same layer. Neither syncs, and each begins with nothing
 * left to be written.
 */
#include "images.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/remove.h"
#include "base/str.h"
#include "process.h"

enum { DIRS = 40, FILES = 100, SIZE = 51200, MS = 1000000 };

/* Bytes that no compression and no deduplication helps with. */
static void write_file(int tree, int number)
{
	autofree char *path = str_format("d%d/f%d", number / FILES, number % FILES);
	autofree uint64_t *data = mem_alloc(SIZE);
	uint64_t x = 88172645463325252u + (uint64_t)number * 0x9e3779b97f4a7c15u;
	autoclose int fd = -1;
	struct error e = {0};

	if (number % FILES == 0) {
		autofree char *dir = str_format("d%d", number / FILES);

		if (mkdirat(tree, dir, 0755) < 0)
			err(2, "%s", dir);
	}
	for (size_t i = 0; i < SIZE / 8; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		data[i] = x;
	}
	fd = openat(tree, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		err(2, "%s", path);
	must(fd_write_all(fd, data, SIZE, &e), &e);
}

static uint64_t shell(const struct bench *b, const char *line)
{
	const char *const argv[] = {"sh", "-c", line, NULL};

	return process_time(argv, b->dir, NULL);
}

/* A command without which the rest says nothing. */
static void must_run(const struct bench *b, const char *line)
{
	if (shell(b, line) == PROCESS_FAILED)
		errx(2, "failed: %s", line);
}

static bool start_row(const struct bench *b, const char *image)
{
	static const char what[] = "`run --image` of `/bin/true`, once unpacked";
	const char *const argv[] = {b->sandglass, "run", "--image", image, "--", "/bin/true", NULL};
	struct least l = {0};
	char measured[64];
	double ms;

	for (int i = 0; i < 4 * b->rounds; i++)
		least_add(&l, process_time(argv, b->dir, NULL));
	if (l.failed)
		return print_failed(what, "at most 15 ms");
	ms = (double)l.ns / MS;
	snprintf(measured, sizeof(measured), "%.1f ms", ms);
	print_row(what, "at most 15 ms", measured, ms <= 15.0);
	return ms <= 15.0;
}

static bool unpack_row(const struct bench *b, const char *image)
{
	autofree char *away = str_format(
			      "'%s' image gc --unpacked >/dev/null; sync -f .", b->sandglass),
		      *ours_line =
			      str_format("'%s' run --image %s -- /bin/true", b->sandglass, image);
	struct least ours = {0}, theirs = {0};

	for (int i = 0; i < b->rounds; i++) {
		must_run(b, "rm -rf u && mkdir u && sync -f .");
		least_add(&theirs, shell(b, "tar xf image.tar -C u"));
		must_run(b, "rm -rf u");
		must_run(b, away);
		least_add(&ours, shell(b, ours_line));
	}
	return print_ratio("an image of 4,000 files and 205 MB unpacked, and run", 1.3, &ours,
		"`tar x`", &theirs);
}

static char *import(const struct bench *b)
{
	autofree char
		*line = str_format(
			"tar cf image.tar -C image-root . && '%s' image import image.tar >digest",
			b->sandglass),
		*path = str_format("%s/digest", b->dir);
	char *text = NULL;
	struct error e = {0};
	autoclose int fd = -1;
	size_t len;

	must_run(b, line);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	must(fd < 0 ? -1 : fd_slurp(fd, 4096, &text, &len, &e), &e);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

bool image_rows(const struct bench *b)
{
	autofree char *home = str_format("%s/image-home", b->dir), *image = NULL;
	autoclose int top = open(b->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), tree = -1;
	const char *before = getenv("SANDGLASS_HOME");
	bool met;

	must_run(b, "mkdir -p image-root/bin && cp /bin/busybox image-root/bin/true");
	tree = openat(top, "image-root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top < 0 || tree < 0)
		err(2, "%s/image-root", b->dir);
	for (int i = 0; i < DIRS * FILES; i++)
		write_file(tree, i);
	setenv("SANDGLASS_HOME", home, 1);
	image = import(b);
	met = start_row(b, image);
	met = unpack_row(b, image) && met;
	if (before)
		setenv("SANDGLASS_HOME", before, 1);
	else
		unsetenv("SANDGLASS_HOME");
	must_run(b, "rm -rf image-root image-home image.tar digest");
	return met;
}
