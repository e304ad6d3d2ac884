/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot's image from anybody: nothing outside the directory is touched, and what comes of one
 * that is taken can be frozen. Checksums are set right first, or little would get past them.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/mem.h"
#include "base/remove.h"
#include "cas/snapshot.h"
#include "cas/thaw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *pos;
	size_t left;
};

static int give(void *context, void *data, size_t len, size_t *ret_len, struct error *err)
{
	struct input *in = context;

	(void)err;
	*ret_len = len < in->left ? len : in->left;
	memcpy(data, in->pos, *ret_len);
	in->pos += *ret_len;
	in->left -= *ret_len;
	return *ret_len > 0;
}

enum { BLOCK = 512, CHECKSUM = 148, MAGIC = 257 };

/* A copy (caller frees) in which every block that looks like a header has its checksum. */
static uint8_t *with_checksums(const uint8_t *data, size_t size)
{
	uint8_t *copy = mem_dup(data, size);

	for (size_t at = 0; at + BLOCK <= size; at += BLOCK) {
		uint8_t *h = copy + at;
		unsigned sum = 0;

		if (memcmp(h + MAGIC, "ustar", 5) != 0)
			continue;
		memset(h + CHECKSUM, ' ', 8);
		for (size_t i = 0; i < BLOCK; i++)
			sum += h[i];
		snprintf((char *)h + CHECKSUM, 7, "%06o", sum);
	}
	return copy;
}

static char name[64];

static void remove_place(void)
{
	(void)!remove_tree(AT_FDCWD, name, NULL);
}

/* "top/in" to be filled; only it may be in "top" afterwards. */
static int make_place(int *ret_top)
{
	static int top = -1;

	if (top < 0) {
		snprintf(name, sizeof(name), "/dev/shm/sandglass-fuzz-XXXXXX");
		if (!mkdtemp(name))
			abort();
		atexit(remove_place);
		top = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (remove_contents(top, NULL) < 0 || mkdirat(top, "in", 0700) < 0)
		abort();
	*ret_top = top;
	return openat(top, "in", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void check_alone(int top)
{
	auto_names struct beneath_names names = {0};

	if (beneath_list(top, 2, &names, NULL) < 0 || names.count != 1 ||
		strcmp(names.items[0], "in") != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree uint8_t *copy = with_checksums(data, size);
	struct input in = {copy, size};
	struct snapshot_policy policy = {.has_xattrs = true};
	char digest[DIGEST_TEXT];
	struct error err = {0};
	char *special = NULL;
	int top, dir = make_place(&top);

	if (thaw_stream(give, &in, dir, &special, &err) == 0) {
		policy.special = special;
		if (snapshot_digest(dir, &policy, digest, &err) < 0 && err.code != ERR_LIMIT &&
			err.code != ERR_UNSUPPORTED)
			abort();
	}
	free(special);
	close(dir);
	check_alone(top);
	return 0;
}
