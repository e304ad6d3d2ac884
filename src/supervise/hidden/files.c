/* SPDX-License-Identifier: Apache-2.0 */
/* Hidden instructions of a file: see files.h. */
#include "supervise/hidden/files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "supervise/hidden/image.h"
#include "supervise/hidden/inplace.h"

enum { FILES = 512 }; /* remembered; the oldest is forgotten first */
static const uint64_t size_max = 1ull << 30;

static struct hidden_file files[FILES];
static unsigned next_file;

static void add_site(
	struct hidden_file *f, uint64_t offset, const unsigned char *code, unsigned len)
{
	struct hidden_site *site;

	f->sites = mem_grow(f->sites, f->count + 1, sizeof(*f->sites));
	site = &f->sites[f->count++];
	*site = (struct hidden_site){.at = offset, .len = (uint8_t)len};
	memcpy(site->code, code, len);
}

static void add_unsure(struct hidden_file *f, uint64_t offset)
{
	if (f->unsure++ == 0)
		f->unsure_at = offset;
}

/* Bytes that look like one, at this offset of an executable segment. */
static void judge(
	const struct image *image, const Elf64_Phdr *s, uint64_t offset, struct hidden_file *f)
{
	uint64_t address = s->p_vaddr + (offset - s->p_offset), start, past;
	const unsigned char *end = image->at + s->p_offset + s->p_filesz, *code;

	if (!image_function(image, address, &start, &past) ||
		(code = image_at(image, start, 1)) == NULL) {
		add_unsure(f, offset);
		return;
	}
	while (start <= address) {
		unsigned len = arch_insn_length_of(code, (size_t)(end - code));

		if (len == 0) {
			add_unsure(f, offset);
			return;
		}
		if (start + len > address) {
			if (arch_hidden_is(code, len))
				add_site(f, (uint64_t)(code - image->at), code, len);
			return;
		}
		start += len;
		code += len;
	}
}

static void search(struct image *image, struct hidden_file *f)
{
	uint64_t last = UINT64_MAX;

	if (!image_read(image)) {
		size_t at = arch_hidden_find(image->at, image->size, 0);

		for (; at < image->size; at = arch_hidden_find(image->at, image->size, at + 1))
			add_unsure(f, at);
		return;
	}
	f->interpreter = image_interpreter(image);
	for (unsigned i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *s = &image->segments[i];
		const unsigned char *code = image->at + s->p_offset;
		size_t at = 0;

		if (s->p_type != PT_LOAD || !(s->p_flags & PF_X))
			continue;
		while ((at = arch_hidden_find(code, s->p_filesz, at)) < s->p_filesz) {
			if (s->p_offset + at != last)
				judge(image, s, s->p_offset + at, f);
			last = s->p_offset + at++;
		}
	}
}

static uint64_t in_ns(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * 1000000000 + (uint64_t)ts->tv_nsec;
}

static struct hidden_file *find(const struct stat *st)
{
	uint64_t mtime_ns = in_ns(&st->st_mtim);

	for (unsigned i = 0; i < FILES; i++) {
		struct hidden_file *f = &files[i];

		if (f->ino != st->st_ino || f->dev != st->st_dev ||
			f->size != (uint64_t)st->st_size || f->mtime_ns != mtime_ns)
			continue;
		f->ctime_ns = in_ns(&st->st_ctim);
		return f;
	}
	return NULL;
}

static struct hidden_file *add(int fd, const struct stat *st)
{
	struct hidden_file *f = &files[next_file++ % FILES];
	struct image image = {.size = (size_t)st->st_size};
	void *at;

	free(f->sites);
	free(f->interpreter);
	free(f->name);
	inplace_free(f->inplace);
	*f = (struct hidden_file){.dev = st->st_dev,
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_ns = in_ns(&st->st_mtim),
		.ctime_ns = in_ns(&st->st_ctim)};
	if (f->size == 0 || f->size > size_max)
		return f;
	at = mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED) {
		*f = (struct hidden_file){0};
		return NULL;
	}
	image.at = at;
	search(&image, f);
	munmap(at, image.size);
	return f;
}

struct hidden_file *hidden_file_get(int fd)
{
	struct hidden_file *f;
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	f = find(&st);
	return f ? f : add(fd, &st);
}

struct hidden_file *hidden_file_at(const char *name, struct stat *ret_st)
{
	struct hidden_file *f = NULL;
	autoclose int fd = -1;

	if (stat(name, ret_st) < 0 || !S_ISREG(ret_st->st_mode))
		return NULL;
	f = find(ret_st);
	if (f)
		return f;
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? NULL : hidden_file_get(fd);
}
