/* SPDX-License-Identifier: Apache-2.0 */
/* rdtsc and cpuid of the dynamic loader, answered in place: see inplace.h. */
#include "supervise/hidden/inplace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/mem.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/vdso.h"
#include "supervise/hidden/image.h"

enum {
	LOADS_BEFORE = 2, /* the search takes as long as it saves in about two programs */
	SPANS_MAX = 16,
	PAGE = 4096,
};

/* Text that is written in one go. */
struct span {
	uint64_t address; /* the file's own */
	size_t at, len;	  /* in `text` */
};

struct inplace {
	uint64_t ctime_ns; /* of the file that was searched */
	size_t count;
	struct arch_place *places; /* by address */
	size_t span_count;
	struct span spans[SPANS_MAX];
	unsigned char *original, *text; /* of all spans: the file's, and with the jumps */
	uint64_t base, vdso;		/* for which the jumps are */
};

static const struct inplace *laid; /* whose stubs are in the vDSO's text */

void inplace_free(struct inplace *i)
{
	if (!i)
		return;
	if (laid == i)
		laid = NULL;
	free(i->places);
	free(i->original);
	free(i->text);
	free(i);
}

/* ---- the search ---- */

static bool is_inside(const struct arch_place *p, uint64_t target)
{
	return target > p->address && target < p->address + p->len;
}

static void drop(struct arch_places *p, uint64_t target)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->count; i++)
		if (!is_inside(&p->at[i], target))
			p->at[kept++] = p->at[i];
	p->count = kept;
}

/* Tables of distances from themselves, which end with the first that leads out of the function. */
static void drop_by_tables(
	const struct image *image, const struct arch_function *f, struct arch_places *p)
{
	for (size_t i = 0; p->jumps_by_table && i < p->table_count; i++) {
		const unsigned char *word;

		for (uint64_t at = p->table[i]; (word = image_at(image, at, 4)) != NULL; at += 4) {
			uint64_t target =
				p->table[i] + (uint64_t)(int64_t)(int32_t)bytes_load_u32(word);

			if (target - f->address >= f->len)
				break;
			drop(p, target);
		}
	}
}

static void drop_by_distances(const struct image *image, const Elf64_Phdr *s, struct arch_places *p)
{
	const unsigned char *code = image->at + s->p_offset;

	for (size_t i = 0; p->count && i + 4 <= s->p_filesz; i++) {
		uint64_t first = p->at[0].address, last = p->at[p->count - 1].address;
		uint64_t target =
			s->p_vaddr + i + 4 + (uint64_t)(int64_t)(int32_t)bytes_load_u32(code + i);

		if (target - first <= last + ARCH_COVER_MAX - first && arch_places_leads(code, i))
			drop(p, target);
	}
}

static void drop_by_addresses(const struct image *image, struct arch_places *p)
{
	for (size_t i = 0; p->count && i + 8 <= image->size; i += 8) {
		uint64_t first = p->at[0].address, last = p->at[p->count - 1].address;
		uint64_t target = bytes_load_u64(image->at + i);

		if (target - first <= last + ARCH_COVER_MAX - first)
			drop(p, target);
	}
}

static void judge_segment(const struct image *image, const Elf64_Phdr *s, struct arch_places *p)
{
	const unsigned char *code = image->at + s->p_offset;
	uint64_t start, end = 0;

	for (size_t at = 0; (at = arch_places_find(code, s->p_filesz, at)) < s->p_filesz; at++) {
		struct arch_function f;

		if (s->p_vaddr + at < end || !image_function(image, s->p_vaddr + at, &start, &end))
			continue;
		f = (struct arch_function){image_at(image, start, end - start), end - start, start};
		if (!f.code)
			continue;
		arch_places_judge(&f, p);
		drop_by_tables(image, &f, p);
	}
}

static bool is_code(const Elf64_Phdr *s)
{
	return s->p_type == PT_LOAD && s->p_flags & PF_X;
}

static void search(struct image *image, struct arch_places *p)
{
	if (!image_read(image))
		return;
	for (unsigned i = 0; i < image->segment_count; i++)
		if (is_code(&image->segments[i]))
			judge_segment(image, &image->segments[i], p);
	for (unsigned i = 0; i < image->segment_count; i++)
		if (is_code(&image->segments[i]))
			drop_by_distances(image, &image->segments[i], p);
	drop_by_addresses(image, p);
}

/* Places less than a page apart are written together. False: too far spread. */
static bool make_spans(const struct image *image, struct inplace *i)
{
	size_t size = 0;

	for (size_t k = 0; k < i->count; k++) {
		const struct arch_place *p = &i->places[k];
		struct span *s = i->span_count ? &i->spans[i->span_count - 1] : NULL;

		if (!s || p->address - (s->address + s->len) >= PAGE) {
			if (i->span_count == SPANS_MAX)
				return false;
			s = &i->spans[i->span_count++];
			*s = (struct span){.address = p->address, .at = size};
		}
		s->len = p->address + p->len - s->address;
		size = s->at + s->len;
	}
	i->original = mem_alloc(size + 1);
	i->text = mem_alloc(size + 1);
	for (size_t k = 0; k < i->span_count; k++) {
		const struct span *s = &i->spans[k];
		const unsigned char *from = image_at(image, s->address, s->len);

		if (!from) /* two segments with a gap */
			return false;
		memcpy(i->original + s->at, from, s->len);
	}
	return true;
}

static struct inplace *look_into(const struct hidden_file *loader)
{
	static struct arch_places found;
	autoclose int fd =
		loader->name ? open(loader->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	struct image image = {.size = loader->size};
	struct inplace *i = mem_alloc(sizeof(*i));
	void *at;

	i->ctime_ns = loader->ctime_ns;
	/* Another file may have its name by now. */
	at = fd < 0 || hidden_file_get(fd) != loader
		     ? MAP_FAILED
		     : mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return i;
	image.at = at;
	found.count = 0;
	search(&image, &found);
	i->count = found.count;
	i->places = mem_grow(NULL, found.count + 1, sizeof(*i->places));
	memcpy(i->places, found.at, found.count * sizeof(*i->places));
	if (!make_spans(&image, i))
		i->count = i->span_count = 0;
	munmap(at, image.size);
	return i;
}

/* ---- stubs and jumps ---- */

/* What is left of the vDSO's rooms. */
struct space {
	struct vdso_room left[VDSO_ROOMS];
	size_t count;
};

/* 0: none has so much. */
static uint64_t take(struct space *s, size_t len)
{
	for (size_t i = 0; i < s->count; i++) {
		struct vdso_room *room = &s->left[i];
		uint64_t at = room->at;

		if (room->len < len)
			continue;
		room->at += len;
		room->len -= len;
		return at;
	}
	return 0;
}

static uint64_t lay(struct space *s, const unsigned char *code, size_t len)
{
	uint64_t at = len ? take(s, len) : 0;

	if (at)
		memcpy(vdso_text(at), code, len);
	return at;
}

/* The stub's code says where it stands: its length is known from a first try. */
static bool put_stub(struct space *s, const struct arch_place *place, struct arch_stub_at *where)
{
	unsigned char code[ARCH_STUB_MAX];
	size_t len = arch_place_stub(place, where, code);
	uint64_t at = len ? take(s, len) : 0;

	if (!at)
		return false;
	where->stub += at;
	if (arch_place_stub(place, where, code) != len)
		return false;
	memcpy(vdso_text(at), code, len);
	return true;
}

static void put_jump(struct inplace *i, const struct arch_place *place, const unsigned char *jump)
{
	for (size_t k = 0; k < i->span_count; k++)
		if (place->address - i->spans[k].address < i->spans[k].len)
			memcpy(i->text + i->spans[k].at + (place->address - i->spans[k].address),
				jump, place->len);
}

static void build(struct inplace *i, uint64_t base, uint64_t vdso)
{
	unsigned char code[PAGE], jump[ARCH_COVER_MAX];
	const struct vdso_room *rooms;
	struct space space = {.count = vdso_rooms(&rooms)};
	uint64_t cpuid;

	memcpy(space.left, rooms, space.count * sizeof(*rooms));
	for (size_t k = 0; k < i->span_count; k++)
		memcpy(i->text + i->spans[k].at, i->original + i->spans[k].at, i->spans[k].len);
	cpuid = lay(&space, code, arch_places_cpuid(code, sizeof(code)));
	for (size_t k = 0; k < i->count; k++) {
		const struct arch_place *place = &i->places[k];
		struct arch_stub_at where = {.place = base + place->address,
			.stub = vdso,
			.counter = vdso + vdso_counter(),
			.cpuid = vdso + cpuid};

		if ((place->is_counter || cpuid) && put_stub(&space, place, &where) &&
			arch_place_jump(place, &where, jump))
			put_jump(i, place, jump);
	}
	i->base = base;
	i->vdso = vdso;
	laid = i;
}

void inplace_ready(struct hidden_file *loader, uint64_t base, uint64_t vdso)
{
	struct inplace *i = loader->inplace;

	if (loader->loads <= LOADS_BEFORE && loader->loads++ < LOADS_BEFORE)
		return;
	if (!i || i->ctime_ns != loader->ctime_ns) {
		inplace_free(i);
		i = loader->inplace = look_into(loader);
	}
	if (i->count && (laid != i || i->base != base || i->vdso != vdso))
		build(i, base, vdso);
}

void inplace_put(struct mm *mm, const struct hidden_file *loader)
{
	const struct inplace *i = loader->inplace;

	/* One that fails is of a task killed meanwhile. */
	for (size_t k = 0; i && laid == i && mm->patched && k < i->span_count; k++)
		if (gmem_poke(mm, i->base + i->spans[k].address, i->text + i->spans[k].at,
			    i->spans[k].len) < 0)
			return;
}
