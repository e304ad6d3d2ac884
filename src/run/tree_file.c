/* SPDX-License-Identifier: Apache-2.0 */
/* The digest of one file, which may be a terabyte of nothing. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "run/tree.h"

enum { BLOCK = 64 * 1024 };

static bool is_zero(const unsigned char *p, size_t len)
{
	return len == 0 || (p[0] == 0 && memcmp(p, p + 1, len - 1) == 0);
}

/* As many bytes as there are at an offset, up to len. */
static int read_at(
	int fd, unsigned char *buf, size_t len, uint64_t at, size_t *ret_len, struct error *err)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = pread(fd, buf + got, len - got, (off_t)(at + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "read");
		if (n == 0)
			break;
		got += (size_t)n;
	}
	*ret_len = got;
	return 0;
}

/* Each block that is not all zeros as u64 offset and its bytes; holes are skipped unread. */
static int digest_blocks(int fd, struct digest *d, struct error *err)
{
	autofree unsigned char *buf = mem_alloc(BLOCK);
	uint64_t at = 0;
	size_t got = 0;

	for (;;) {
		unsigned char head[8];
		off_t data = lseek(fd, (off_t)at, SEEK_DATA);

		if (data < 0 && errno == ENXIO)
			return 0;
		if (data < 0)
			return error_sys(err, "seek");
		/* On the same grid wherever the file system says that data begins. */
		at = (uint64_t)data / BLOCK * BLOCK;
		if (read_at(fd, buf, BLOCK, at, &got, err) < 0)
			return -1;
		if (got == 0)
			return 0;
		bytes_store_u64(head, at);
		if (!is_zero(buf, got)) {
			digest_update(d, head, sizeof(head));
			digest_update(d, buf, got);
		}
		at += BLOCK;
	}
}

int tree_digest_file(
	int fd, uint64_t size, char ret[DIGEST_TEXT], bool *ret_blocks, struct error *err)
{
	auto_digest struct digest *d = NULL;

	*ret_blocks = size > TREE_WHOLE_MAX;
	if (!*ret_blocks)
		return digest_of_fd(fd, ret, NULL, err);
	d = digest_new();
	if (digest_blocks(fd, d, err) < 0)
		return -1;
	digest_text(d, ret);
	return 0;
}
