/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head file: how far the chain goes, under a seal of the chain's key. One line of fixed length
 * that is written in place: behind the chain after a crash at worst, never ahead of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/inside.h"
#include "base/beneath.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"

enum { TEXT_MAX = 512 };

/* The text that is sealed, and behind it the seal. */
static size_t head_text(const struct audit *a, const struct audit_head *h, char ret[TEXT_MAX])
{
	unsigned char raw[DIGEST_SIZE];
	char seal[DIGEST_HEX];
	int len = snprintf(ret, TEXT_MAX,
		"{\"count\": \"%020" PRIu64 "\", \"file\": \"%s\", \"hmac\": \"%s\", \"size\": "
		"\"%020" PRIu64 "\"",
		h->count, h->file, h->hmac, h->size);

	digest_hmac(a->key, sizeof(a->key), "head", 4, ret, (size_t)len, raw);
	digest_hex(raw, seal);
	return (size_t)len +
	       (size_t)snprintf(ret + len, TEXT_MAX - (size_t)len, ", \"seal\": \"%s\"}\n", seal);
}

static int get_text(const json_t *o, const char *name, char *ret, size_t size)
{
	const char *s = json_string_value(json_object_get(o, name));

	if (!s || strlen(s) + 1 != size)
		return -1;
	memcpy(ret, s, size);
	return 0;
}

static int get_number(const json_t *o, const char *name, uint64_t *ret)
{
	char text[21];

	return get_text(o, name, text, sizeof(text)) < 0 ||
			       num_parse_u64(text, UINT64_MAX, ret, NULL) < 0
		       ? -1
		       : 0;
}

int audit_head_read(const struct audit *a, struct audit_head *ret, struct error *err)
{
	struct stat st;
	autoclose int fd = beneath_open_file(a->dir, "head", &st);
	autofree char *text = NULL;
	auto_json json_t *o = NULL;
	struct audit_head h = {0};
	char same[TEXT_MAX];
	size_t len;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return error_sys(err, "open the head of the audit log");
	if (fd_slurp(fd, TEXT_MAX, &text, &len, err) < 0)
		return error_wrap(err, "the head of the audit log");
	if (json_read(text, len, TEXT_MAX, &o, err) < 0 || !json_is_object(o) ||
		get_number(o, "count", &h.count) < 0 || get_number(o, "size", &h.size) < 0 ||
		get_text(o, "file", h.file, sizeof(h.file)) < 0 ||
		get_text(o, "hmac", h.hmac, sizeof(h.hmac)) < 0 || head_text(a, &h, same) != len ||
		memcmp(same, text, len) != 0)
		return error_set(
			err, ERR_TAMPERED, "the head of the audit log is not what the key sealed");
	*ret = h;
	return 1;
}

int audit_head_write(const struct audit *a, const struct audit_head *h, struct error *err)
{
	char text[TEXT_MAX];
	size_t len = head_text(a, h, text);
	autoclose int fd = openat(
		a->dir, "head", O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	ssize_t n;

	if (fd < 0)
		return error_sys(err, "open the head of the audit log");
	n = pwrite(fd, text, len, 0);
	if (n != (ssize_t)len)
		return n < 0 ? error_sys(err, "write the head of the audit log")
			     : error_set(err, ERR_SYSTEM, "write the head of the audit log: cut");
	return 0;
}
