/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of evidence: see evidence.h. An append beside a bare write and fsync of the same bytes;
 * a long log verified; the objects of a receipt beside `openssl dgst` of the same bytes.
 */
#include "evidence.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attest/receipt.h"
#include "audit/inside.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/remove.h"
#include "base/str.h"
#include "process.h"

enum { MS = 1000000, APPENDS = 200, LINES = 100000, BLOB_MIB = 200 };

static struct audit *open_log(const struct bench *b, enum audit_mode mode)
{
	autofree char *dir = str_format("%s/audit", b->dir),
		      *key = str_format("%s/audit.key", b->dir);
	struct audit *a = NULL;
	struct error e = {0};

	must(audit_open(dir, key, mode, &a, &e), &e);
	return a;
}

static const struct audit_event event = {.type = "bench.append",
	.actor = "bench",
	.resource_type = "row",
	.resource_id = "0123456789abcdef"};

static void appends(const struct bench *b, struct least *ours, struct least *bare)
{
	auto_audit struct audit *a = open_log(b, AUDIT_APPEND);
	autofree char *path = str_format("%s/bare", b->dir), *line = NULL;
	autoclose int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	struct audit_head h;
	struct error e = {0};
	uint64_t from = clock_host_ns();
	size_t len;

	for (int i = 0; i < APPENDS; i++)
		must(audit_append(a, &event, NULL, &e), &e);
	least_add(ours, (clock_host_ns() - from) / APPENDS);
	must(audit_head_find(a, &h, &e), &e);
	len = h.size / h.count;
	line = mem_alloc(len);
	from = clock_host_ns();
	for (int i = 0; i < APPENDS; i++) {
		must(fd_write_all(fd, line, len, &e), &e);
		if (fsync(fd) < 0)
			err(2, "fsync");
	}
	least_add(bare, (clock_host_ns() - from) / APPENDS);
	unlink(path);
}

/* A chain of many lines, written as a whole: the appends would sync each. */
static void long_log(const struct bench *b)
{
	auto_audit struct audit *a = open_log(b, AUDIT_APPEND);
	struct audit_text CLEANUP(audit_text_finish) t = {0};
	struct bytes CLEANUP(bytes_finish) all = {0};
	auto_json json_t *record = json_object();
	struct audit_head h = {.hmac = AUDIT_GENESIS, .file = "2026-01-01.jsonl"};
	autoclose int fd = -1;
	struct error e = {0};

	json_put(record, "actor", json_str("bench"));
	json_put(record, "details", json_object());
	json_put(record, "event_type", json_str("bench.line"));
	json_put(record, "resource_id", json_str("0123456789abcdef"));
	json_put(record, "resource_type", json_str("row"));
	json_put(record, "timestamp", json_str("2026-01-01T00:00:00.000000Z"));
	for (; h.count < LINES; h.count++) {
		json_put(record, "prev_hmac", json_str(h.hmac));
		audit_text_write(&t, record);
		audit_text_hmac(a, &t, h.hmac, h.hmac);
		audit_text_line(&t, h.hmac, &all);
	}
	h.size = all.len;
	fd = openat(a->dir, h.file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	must(fd_write_all(fd, all.data, all.len, &e), &e);
	must(audit_head_write(a, &h, &e), &e);
}

static int no_fault(void *context, const struct audit_fault *f, struct error *e)
{
	(void)context;
	return error_set(e, ERR_TAMPERED, "%s", f->detail);
}

static void walks(const struct bench *b, struct least *walk)
{
	auto_audit struct audit *a = open_log(b, AUDIT_READ);
	struct audit_walk w = {.fault = no_fault};
	struct error e = {0};
	uint64_t from = clock_host_ns();

	must(audit_walk(a, &w, &e), &e);
	if (w.lines != LINES)
		errx(2, "not the lines of the log");
	least_add(walk, clock_host_ns() - from);
}

static void remove_log(const struct bench *b)
{
	autoclose int top = open(b->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct error e = {0};

	must(remove_tree(top, "audit", &e), &e);
	must(remove_tree(top, "audit.key", &e), &e);
}

/* A file of many bytes, in the store and beside it. */
static struct cas *make_blob(const struct bench *b, char digest[DIGEST_TEXT])
{
	autofree char *path = str_format("%s/blob", b->dir),
		      *store = str_format("%s/blobs", b->dir);
	autofree char *mib = mem_alloc(1 << 20);
	autoclose int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct cas *c = NULL;
	struct error e = {0};

	for (int i = 0; i < BLOB_MIB; i++) {
		memset(mib, i, 1 << 20);
		must(fd_write_all(fd, mib, 1 << 20, &e), &e);
	}
	must(cas_open(store, CAS_WRITE, &c, &e), &e);
	if (lseek(fd, 0, SEEK_SET) < 0)
		err(2, "seek");
	must(cas_put_fd(c, fd, NULL, NULL, digest, &e), &e);
	return c;
}

static void receipts(const struct bench *b, struct least *ours, struct least *openssl)
{
	static const char *const words[] = {"openssl", "dgst", "-sha256", "blob", NULL};
	autoclose int top = open(b->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char digest[DIGEST_TEXT];
	struct cas *c = make_blob(b, digest);
	auto_json json_t *statement = json_object();
	json_t *outputs = json_object();
	struct error e = {0};

	json_put(outputs, "stdout", json_str(digest));
	json_put(statement, "outputs", outputs);
	json_put(statement, "contract", json_str("{}"));
	for (int i = 0; i < b->rounds; i++) {
		struct verdict CLEANUP(verdict_finish) v;
		uint64_t from = clock_host_ns();

		verdict_init(&v);
		receipt_check_objects(statement, c, &v);
		least_add(ours, clock_host_ns() - from);
		if (json_array_size(v.checked) != 1)
			errx(2, "the object was not checked");
		least_add(openssl, process_time(words, b->dir, NULL));
	}
	cas_close(c);
	must(remove_tree(top, "blobs", &e), &e);
	must(remove_tree(top, "blob", &e), &e);
}

bool evidence_rows(const struct bench *b)
{
	struct least append = {0}, bare = {0}, walk = {0}, check = {0}, openssl = {0};
	char measured[64];
	bool met;

	for (int i = 0; i < b->rounds; i++) {
		appends(b, &append, &bare);
		remove_log(b);
	}
	long_log(b);
	for (int i = 0; i < b->rounds; i++)
		walks(b, &walk);
	remove_log(b);
	receipts(b, &check, &openssl);
	met = print_ratio("append to the audit log", 1.5, &append, "write and fsync", &bare);
	snprintf(measured, sizeof(measured), "%.2f s", (double)walk.ns / 1e9);
	print_row("100,000 records of it verified (a million: 10 s)", "at most 1 s", measured,
		walk.ns <= 1000ull * MS);
	met = walk.ns <= 1000ull * MS && met;
	return print_ratio("objects of a receipt hashed again, 200 MiB", 1.1, &check,
		       "`openssl dgst`", &openssl) &&
	       met;
}
