/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our stubs over the guest's vDSO.
 *
 * How it works: the kernel maps the same vDSO image into every program, the supervisor included, so
 * its symbols are looked up once, here. The blob of arch/<arch>/vdso_blob.S is laid over the
 * largest function (clock_gettime); every other symbol gets a jump into it. The patched range is
 * written by one pwrite to /proc/PID/mem at each exec: the write makes a private copy of the pages,
 * which fork inherits. The time is data inside that range, so moving the clock is one small pwrite
 * for each address space, made while all tasks are stopped; the stubs need no lock.
 *
 * Below its vDSO the kernel keeps the pages that its own functions compute from: the host's time,
 * in plain sight of whoever reads them. Nothing of ours needs them, so each new program gives them
 * up.
 *
 * With --clock-step-ns every read must move the clock: the stubs then stay not ready for ever,
 * which makes each of them the plain call.
 */
#include "supervise/engine/vdso.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/bytes.h"
#include "supervise/engine/clock.h"
#include "supervise/engine/gmem.h"
#include "supervise/report.h"

enum {
	PATCH_MAX = 16384,
	NS_PER_S = 1000000000,
	TIME_BYTES = 48,
	PAGE = 4096,
	ENTRY = 16,
	COUNTER_AT = 40
};

static unsigned char patch[PATCH_MAX]; /* bytes of the image from patch_at on */
static uint64_t patch_at, patch_len;   /* relative to the vDSO's start */
static uint64_t time_at, ready_at, gadget_at, start_at, start_data_at;
static uint64_t symbol_at[ARRAY_LEN(((struct arch_vdso_blob *)0)->entries)]; /* 0: there is none */
static uint64_t data_len; /* of the kernel's own pages below the vDSO */
static struct vdso_room rooms[VDSO_ROOMS];
static size_t room_count;

struct image {
	const unsigned char *base;
	const Elf64_Sym *symbols;
	size_t symbol_count;
	const char *strings;
	uint64_t bias; /* load address minus virtual address */
};

static void find_tables(struct image *v)
{
	const Elf64_Ehdr *eh = (const void *)v->base;
	const Elf64_Phdr *ph = (const void *)(v->base + eh->e_phoff);
	const Elf64_Dyn *dyn = NULL;

	for (int i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD)
			v->bias = ph[i].p_vaddr - ph[i].p_offset;
		else if (ph[i].p_type == PT_DYNAMIC)
			dyn = (const void *)(v->base + ph[i].p_offset);
	for (; dyn && dyn->d_tag != DT_NULL; dyn++)
		if (dyn->d_tag == DT_SYMTAB)
			v->symbols = (const void *)(v->base + dyn->d_un.d_ptr - v->bias);
		else if (dyn->d_tag == DT_STRTAB)
			v->strings = (const char *)(v->base + dyn->d_un.d_ptr - v->bias);
	/* The image has its section headers; they alone give the number of symbols directly. */
	for (int i = 0; i < eh->e_shnum; i++) {
		const Elf64_Shdr *sh =
			(const void *)(v->base + eh->e_shoff + (size_t)i * eh->e_shentsize);

		if (sh->sh_type == SHT_DYNSYM)
			v->symbol_count = sh->sh_size / sizeof(Elf64_Sym);
	}
}

/* Offset in the image and size of a symbol; 0 when this kernel has none of that name. */
static uint64_t find_symbol(const struct image *v, const char *name, uint64_t *ret_size)
{
	for (size_t i = 0; i < v->symbol_count; i++)
		if (v->symbols[i].st_shndx != SHN_UNDEF &&
			strcmp(v->strings + v->symbols[i].st_name, name) == 0) {
			*ret_size = v->symbols[i].st_size;
			return v->symbols[i].st_value - v->bias;
		}
	return 0;
}

/* [vvar] and, from 6.13 on, [vvar_vclock]: mapped right below the vDSO on both architectures. */
static int find_data(uint64_t vdso, struct error *err)
{
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "re");

	if (!maps)
		return error_sys(err, "open '/proc/self/maps'");
	data_len = 0;
	while (fgets(line, sizeof(line), maps)) {
		uint64_t start;

		if (strstr(line, "[vvar") && sscanf(line, "%lx-", &start) == 1 && start < vdso &&
			vdso - start > data_len)
			data_len = vdso - start;
	}
	fclose(maps);
	return 0;
}

static void add_room(uint64_t at, uint64_t end)
{
	enum { LEAST = 64 };

	if (room_count < VDSO_ROOMS && end > at && end - at >= LEAST)
		rooms[room_count++] = (struct vdso_room){at, end - at};
}

/* The image ends with its section headers; the rest of its last page is mapped, and zeros. */
static uint64_t end_of(const struct image *v)
{
	const Elf64_Ehdr *eh = (const void *)v->base;

	return eh->e_shoff + (uint64_t)eh->e_shnum * eh->e_shentsize;
}

int vdso_init(struct error *err)
{
	const struct arch_vdso_blob *blob = arch_vdso_blob();
	struct image v = {.base = (const unsigned char *)getauxval(AT_SYSINFO_EHDR)};
	uint64_t *at = symbol_at, size[ARRAY_LEN(symbol_at)] = {0}, end;

	if (!v.base)
		return error_set(err, ERR_UNSUPPORTED, "the kernel maps no vDSO");
	if (find_data((uint64_t)(uintptr_t)v.base, err) < 0)
		return -1;
	find_tables(&v);
	if (!v.symbols || !v.strings || !v.symbol_count)
		return error_set(err, ERR_UNSUPPORTED, "the vDSO has no symbol table");
	patch_at = UINT64_MAX;
	end = end_of(&v);
	add_room(end, (end + PAGE - 1) / PAGE * PAGE);
	end = (end + PAGE - 1) / PAGE * PAGE;
	for (size_t i = 0; i < blob->entry_count; i++) {
		at[i] = find_symbol(&v, blob->entries[i].symbol, &size[i]);
		if (!at[i])
			continue;
		if (at[i] < patch_at)
			patch_at = at[i];
		if (i != 0)
			add_room(at[i] + ENTRY, at[i] + size[i]);
	}
	if (!at[0] || size[0] < blob->size)
		return error_set(err, ERR_UNSUPPORTED, "%s has %lu bytes, the stubs need %zu",
			blob->entries[0].symbol, (unsigned long)size[0], blob->size);
	add_room(at[0] + blob->size, at[0] + size[0]);
	patch_len = end - patch_at;
	if (patch_len > PATCH_MAX)
		return error_set(err, ERR_UNSUPPORTED, "vDSO functions span %lu bytes",
			(unsigned long)patch_len);
	memcpy(patch, v.base + patch_at, patch_len);
	memcpy(patch + (at[0] - patch_at), blob->code, blob->size);
	for (size_t i = 1; i < blob->entry_count; i++)
		if (at[i])
			arch_vdso_jump(
				patch + (at[i] - patch_at), at[i], at[0] + blob->entries[i].offset);
	time_at = at[0] + blob->data;
	ready_at = at[0] + blob->ready;
	gadget_at = at[0] + blob->gadget;
	start_at = blob->start ? at[0] + blob->start : 0;
	start_data_at = at[0] + blob->start_data;
	return 0;
}

bool vdso_symbol(size_t i, const char **ret_name, uint64_t *ret_at)
{
	const struct arch_vdso_blob *blob = arch_vdso_blob();

	if (i >= blob->entry_count)
		return false;
	*ret_name = blob->entries[i].symbol;
	*ret_at = symbol_at[i];
	return true;
}

size_t vdso_rooms(const struct vdso_room **ret)
{
	*ret = rooms;
	return room_count;
}

unsigned char *vdso_text(uint64_t at)
{
	return patch + (at - patch_at);
}

uint64_t vdso_counter(void)
{
	return time_at + COUNTER_AT;
}

uint64_t vdso_data(const struct mm *mm, uint64_t *ret_len)
{
	*ret_len = data_len;
	return mm->vdso - data_len;
}

uint64_t vdso_gadget(const struct mm *mm)
{
	return mm->patched ? mm->vdso + gadget_at : 0;
}

static void time_bytes(unsigned char out[TIME_BYTES])
{
	uint64_t real = clock_realtime(), mono = clock_monotonic();

	bytes_store_u64(out, real / NS_PER_S);
	bytes_store_u64(out + 8, real % NS_PER_S);
	bytes_store_u64(out + 16, mono / NS_PER_S);
	bytes_store_u64(out + 24, mono % NS_PER_S);
	bytes_store_u64(out + 32, real % NS_PER_S / 1000);
	bytes_store_u64(out + COUNTER_AT, mono);
}

uint64_t vdso_start(const struct mm *mm)
{
	return mm->patched && start_at && data_len ? mm->vdso + start_at : 0;
}

static void start_bytes(const struct mm *mm, uint64_t entry, unsigned char *out)
{
	uint64_t length;

	bytes_store_u64(out, vdso_data(mm, &length));
	bytes_store_u64(out + 8, length);
	bytes_store_u64(out + 16, entry);
}

int vdso_patch(struct mm *mm, uint64_t entry, struct error *err)
{
	if (!patch_len || !mm->vdso)
		return error_set(err, ERR_UNSUPPORTED, "no vDSO to patch");
	time_bytes(patch + (time_at - patch_at));
	if (start_at)
		start_bytes(mm, entry, patch + (start_data_at - patch_at));
	if (gmem_poke(mm, mm->vdso + patch_at, patch, patch_len) < 0)
		return error_sys(err, "write to the guest's vDSO");
	mm->patched = true;
	mm->ready = false;
	return 0;
}

void vdso_set_ready(struct mm *mm)
{
	unsigned char one[4];

	mm->ready = true;
	bytes_store_u32(one, 1);
	if (mm->patched && !clock_step() &&
		gmem_poke(mm, mm->vdso + ready_at, one, sizeof(one)) < 0)
		report_not_enforced(REASON_VDSO_UNPATCHED, "could not patch vDSO: counter page");
}

void vdso_set_time(void)
{
	unsigned char now[TIME_BYTES];

	time_bytes(now);
	for (struct mm *mm = mm_list; mm; mm = mm->next)
		/* A failure means that it is being torn down: its last task was killed. */
		if (mm->patched && gmem_poke(mm, mm->vdso + time_at, now, sizeof(now)) < 0)
			continue;
}
