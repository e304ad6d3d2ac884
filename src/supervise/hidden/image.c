/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF file in memory: see image.h. */
#include "supervise/hidden/image.h"

#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"

enum {
	ENCODED_UDATA4 = 3, /* of .eh_frame_hdr: DWARF exception header encodings */
	ENCODED_PCREL_SDATA4 = 0x1b,
	ENCODED_DATAREL_SDATA4 = 0x3b,
	HEADER_SIZE = 12,
	FDE_START = 8, /* length and CIE pointer come before */
};

static bool is_inside(const struct image *image, uint64_t offset, uint64_t len)
{
	return offset <= image->size && len <= image->size - offset;
}

static bool read_header(struct image *image)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)image->at;

	if (image->size < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
		head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_phentsize != sizeof(Elf64_Phdr) ||
		head->e_phoff % 8 != 0 ||
		!is_inside(image, head->e_phoff, (uint64_t)head->e_phnum * sizeof(Elf64_Phdr)))
		return false;
	image->segments = (const Elf64_Phdr *)(const void *)(image->at + head->e_phoff);
	image->segment_count = head->e_phnum;
	for (unsigned i = 0; i < image->segment_count; i++)
		if (!is_inside(image, image->segments[i].p_offset, image->segments[i].p_filesz))
			return false;
	return true;
}

const unsigned char *image_at(const struct image *image, uint64_t address, uint64_t len)
{
	for (unsigned i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *s = &image->segments[i];

		if (s->p_type == PT_LOAD && address >= s->p_vaddr &&
			address - s->p_vaddr <= s->p_filesz &&
			len <= s->p_filesz - (address - s->p_vaddr))
			return image->at + s->p_offset + (address - s->p_vaddr);
	}
	return NULL;
}

static void find_table(struct image *image)
{
	for (unsigned i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *s = &image->segments[i];
		const unsigned char *p = image->at + s->p_offset;

		if (s->p_type != PT_GNU_EH_FRAME || s->p_filesz < HEADER_SIZE || p[0] != 1 ||
			p[1] != ENCODED_PCREL_SDATA4 || p[2] != ENCODED_UDATA4 ||
			p[3] != ENCODED_DATAREL_SDATA4)
			continue;
		image->table_count = bytes_load_u32(p + 8);
		image->table_address = s->p_vaddr;
		image->table = p + HEADER_SIZE;
		if (image->table_count > (s->p_filesz - HEADER_SIZE) / 8)
			image->table_count = 0;
		return;
	}
}

static void find_records(struct image *image)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)image->at;
	const Elf64_Shdr *sections, *names;

	if (!head)
		return;
	sections = (const Elf64_Shdr *)(const void *)(image->at + head->e_shoff);
	if (head->e_shentsize != sizeof(*sections) || head->e_shoff % 8 != 0 ||
		!is_inside(image, head->e_shoff, (uint64_t)head->e_shnum * sizeof(*sections)) ||
		head->e_shstrndx >= head->e_shnum)
		return;
	names = &sections[head->e_shstrndx];
	for (unsigned i = 0; i < head->e_shnum; i++) {
		static const char wanted[] = ".eh_frame";
		const Elf64_Shdr *s = &sections[i];

		if (!is_inside(image, names->sh_offset + s->sh_name, sizeof(wanted)) ||
			memcmp(image->at + names->sh_offset + s->sh_name, wanted, sizeof(wanted)) !=
				0 ||
			s->sh_type == SHT_NOBITS || !is_inside(image, s->sh_offset, s->sh_size))
			continue;
		image->records = image->at + s->sh_offset;
		image->records_address = s->sh_addr;
		image->records_len = s->sh_size;
	}
}

char *image_interpreter(const struct image *image)
{
	for (unsigned i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *s = &image->segments[i];
		const char *name;

		if (!image->at || s->p_type != PT_INTERP || s->p_filesz < 2)
			continue;
		name = (const char *)image->at + s->p_offset;
		if (name[s->p_filesz - 1] == '\0')
			return mem_strdup(name);
	}
	return NULL;
}

static uint64_t relative(uint64_t base, const unsigned char *p)
{
	return base + (uint64_t)(int64_t)(int32_t)bytes_load_u32(p);
}

/* The same from the records one by one; those in another encoding than compilers use are passed
 * over. */
static bool find_in_records(
	const struct image *image, uint64_t address, uint64_t *ret_start, uint64_t *ret_end)
{
	for (size_t at = 0; at + FDE_START + 8 <= image->records_len;) {
		const unsigned char *record = image->records + at;
		uint32_t len = bytes_load_u32(record), cie = bytes_load_u32(record + 4);
		uint64_t start =
			relative(image->records_address + at + FDE_START, record + FDE_START);

		if (len == 0 || len >= image->records_len - at - 4)
			return false;
		if (cie != 0 && cie <= at + 4 &&
			address - start < bytes_load_u32(record + FDE_START + 4) &&
			memcmp(image->records + (at + 4 - cie) + FDE_START + 1, "zR", 3) == 0) {
			*ret_start = start;
			*ret_end = start + bytes_load_u32(record + FDE_START + 4);
			return true;
		}
		at += len + 4;
	}
	return false;
}

bool image_function(
	const struct image *image, uint64_t address, uint64_t *ret_start, uint64_t *ret_end)
{
	uint32_t low = 0, high = image->table_count;
	const unsigned char *record;
	uint64_t where;

	if (!image->table)
		return find_in_records(image, address, ret_start, ret_end);
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (relative(image->table_address, image->table + 8ull * middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	*ret_start = relative(image->table_address, image->table + 8ull * (low - 1));
	where = relative(image->table_address, image->table + 8ull * (low - 1) + 4);
	record = image_at(image, where, FDE_START + 8);
	/* Its start once more, in the encoding that the length has too. */
	if (!record || relative(where + FDE_START, record + FDE_START) != *ret_start)
		return false;
	*ret_end = *ret_start + bytes_load_u32(record + FDE_START + 4);
	return address < *ret_end;
}

bool image_read(struct image *image)
{
	if (!read_header(image))
		return false;
	find_table(image);
	if (!image->table)
		find_records(image);
	return true;
}
