/* SPDX-License-Identifier: Apache-2.0 */
/* /sys of the view: see sys.h and the table sys.def. */
#include "launch/sys.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/mem.h"
#include "launch/mounts.h"

enum kind { KIND_DIR, KIND_FILE, KIND_LINK };

static const struct row {
	enum kind kind;
	const char *path, *text; /* the text of a file, the target of a link */
} rows[] = {
#define DIR(path) {KIND_DIR, path, NULL},
#define TEXT(path, text) {KIND_FILE, path, text},
#define LINK(path, target) {KIND_LINK, path, target},
#include "launch/sys.def"
#undef DIR
#undef TEXT
#undef LINK
};

/* Memory comes in blocks of one size, a power of two: as many as these make up all of it. */
enum { BLOCKS = 4 };
#define BLOCK_LEAST (128ull << 20)

/* What each block has: its own number is the text of the one without. */
static const char *const block_files[][2] = {{"online", "1\n"}, {"phys_index", NULL},
	{"removable", "0\n"}, {"state", "online\n"}, {"valid_zones", "Normal\n"}};

static uint64_t block_size(const struct contract *c)
{
	uint64_t size = BLOCK_LEAST;

	while (size < UINT64_MAX / 2 && size * BLOCKS < c->memory_bytes)
		size *= 2;
	return size;
}

static void put_value(struct bytes *out, char what, const struct contract *c)
{
	char number[24];
	uint64_t value = what == 'p'   ? c->pids
			 : what == 'b' ? block_size(c)
			 : what == 'm' ? c->memory_bytes
			 : what == 'k' ? c->memory_bytes / 1024
			 : what == 'f' ? c->memory_bytes / 1024 / 2
				       : c->memory_bytes / 2;

	snprintf(number, sizeof(number), what == 'b' ? "%llx" : "%llu", (unsigned long long)value);
	bytes_put(out, number, strlen(number));
}

static char *text_of(const char *text, const struct contract *c)
{
	auto_bytes struct bytes out = {0};

	for (const char *p = text; *p; p++) {
		if (*p == '%')
			put_value(&out, *++p, c);
		else
			bytes_put(&out, p, 1);
	}
	bytes_put_u8(&out, 0);
	return mem_strdup((const char *)out.data);
}

char **sys_texts_new(const struct contract *c)
{
	/* After the rows' the number of blocks, in digits of one. */
	char **texts = mem_array(ARRAY_LEN(rows) + 1, sizeof(*texts));
	uint64_t size = block_size(c), blocks = (c->memory_bytes + size - 1) / size;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		texts[i] = text_of(rows[i].kind == KIND_DIR ? "" : rows[i].text, c);
	texts[ARRAY_LEN(rows)] = mem_alloc(BLOCKS + 1);
	for (uint64_t k = 0; k < blocks && k < BLOCKS; k++)
		texts[ARRAY_LEN(rows)][k] = (char)('0' + k);
	return texts;
}

void sys_texts_free(char **texts)
{
	for (size_t i = 0; texts != NULL && i <= ARRAY_LEN(rows); i++)
		mem_cleanup(&texts[i]);
	mem_cleanup(&texts);
}

/* FNV-1a, ends of strings included. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
	do
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	while (*text++);
	return hash;
}

uint64_t sys_hash(char *const *texts)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		hash = (hash ^ rows[i].kind) * UINT64_C(0x100000001b3);
		hash = hash_text(hash_text(hash, rows[i].path), texts[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(block_files); i++)
		hash = hash_text(hash_text(hash, block_files[i][0]),
			block_files[i][1] ? block_files[i][1] : "");
	return hash_text(hash, texts[ARRAY_LEN(rows)]);
}

static int fill_one(int sys, const struct row *row, const char *text, struct error *err)
{
	if (row->kind == KIND_FILE)
		return mounts_text(sys, row->path, text, strlen(text), err);
	if (row->kind == KIND_LINK ? symlinkat(text, sys, row->path) < 0
				   : mkdirat(sys, row->path, 0755) < 0)
		return error_sys(err, "make /sys/%s", row->path);
	return 0;
}

/* One block of memory, and the node's link to it. */
static int fill_block(int sys, char number, struct error *err)
{
	char path[] = "devices/system/memory/memoryN", index[] = "0000000N\n";
	char link[] = "devices/system/node/node0/memoryN", target[] = "../../memory/memoryN";
	autoclose int dir = -1;

	path[sizeof(path) - 2] = index[7] = number;
	link[sizeof(link) - 2] = target[sizeof(target) - 2] = number;
	if (mounts_make_dir(sys, path, &dir, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(block_files); i++) {
		const char *text = block_files[i][1] != NULL ? block_files[i][1] : index;

		if (mounts_text(dir, block_files[i][0], text, strlen(text), err) < 0)
			return -1;
	}
	return symlinkat(target, sys, link) < 0 ? error_sys(err, "make /sys/%s", link) : 0;
}

/* What a program needs to know how many CPUs it has. */
static bool is_basic(const char *path)
{
	static const char *const basic[] = {"devices", "devices/system", "devices/system/cpu",
		"devices/system/cpu/online", "devices/system/cpu/possible",
		"devices/system/cpu/present", "devices/system/cpu/cpu0", "kernel", "kernel/mm",
		"kernel/mm/transparent_hugepage", "kernel/mm/transparent_hugepage/enabled"};

	for (size_t i = 0; i < ARRAY_LEN(basic); i++)
		if (strcmp(path, basic[i]) == 0)
			return true;
	return false;
}

int sys_fill(int sys, char *const *texts, bool whole, struct error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if ((whole || is_basic(rows[i].path)) && fill_one(sys, &rows[i], texts[i], err) < 0)
			return -1;
	for (const char *k = texts[ARRAY_LEN(rows)]; whole && *k != '\0'; k++)
		if (fill_block(sys, *k, err) < 0)
			return -1;
	return 0;
}
