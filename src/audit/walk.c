/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the whole chain: every line is parsed, written again, compared, and its HMAC computed.
 *
 * Writers are not held up: the lock is taken only at the end of the last file, for what came while
 * the rest was read and for the head.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/walk.h"
#include "base/beneath.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"

enum { CHUNK = 256 * 1024 };

struct walker {
	struct audit *a;
	struct audit_walk *w;
	const char *file;
	uint64_t line, at;	 /* in the file: number, and offset of its first byte */
	char prev[DIGEST_HEX];	 /* "" after a line that says no HMAC */
	bool met_head, met_seal; /* the chain came through there */
	const struct audit_head *head;
	struct audit_text text;
	struct bytes same;
};

static int fault(
	struct walker *k, const char *code, uint64_t byte, const char *detail, struct error *err)
{
	struct audit_fault f = {code, k->file, k->line, byte, detail};

	k->w->faults++;
	return k->w->fault(k->w->context, &f, err);
}

/* Whether the point up to which somebody vouched has been passed with the HMAC that he saw. */
static void meet(const struct audit_walk *w, const struct audit_head *there, bool *met)
{
	if (there && w->end.count == there->count)
		*met = strcmp(w->end.hmac, there->hmac) == 0;
}

static int check_chain(struct walker *k, const json_t *record, struct error *err)
{
	const char *prev = json_string_value(json_object_get(record, "prev_hmac"));
	const char *said = json_string_value(json_object_get(record, "hmac"));
	const char *day = json_string_value(json_object_get(record, "timestamp"));
	char hmac[DIGEST_HEX];

	audit_text_hmac(k->a, &k->text, prev, hmac);
	if (strcmp(hmac, said) != 0 &&
		fault(k, "hmac_mismatch", k->at, "the HMAC is not that of the line", err) < 0)
		return -1;
	if (k->prev[0] && strcmp(prev, k->prev) != 0 &&
		fault(k, "prev_mismatch", k->at, "it does not follow the line before it", err) < 0)
		return -1;
	if (k->line == 1 && memcmp(day, k->file, 10) != 0 &&
		fault(k, "date_mismatch", k->at, "the file is named after another day", err) < 0)
		return -1;
	memcpy(k->prev, said, DIGEST_HEX);
	memcpy(k->w->end.hmac, said, DIGEST_HEX);
	return 0;
}

static int check_line(struct walker *k, const char *line, size_t len, struct error *err)
{
	auto_json json_t *record = NULL;
	struct error why = {0};
	const char *wrong;
	size_t same = 0;

	k->w->lines++;
	k->w->end.count++;
	if (json_read(line, len - 1, AUDIT_LINE_MAX, &record, &why) < 0) {
		k->prev[0] = '\0';
		return fault(k, "not_json", k->at, why.msg, err);
	}
	wrong = audit_record_fault(record);
	if (wrong) {
		k->prev[0] = '\0';
		return fault(k, "not_a_record", k->at, wrong, err);
	}
	audit_text_write(&k->text, record);
	k->same.len = 0;
	audit_text_line(&k->text, json_string_value(json_object_get(record, "hmac")), &k->same);
	while (same < len && same < k->same.len && line[same] == (char)k->same.data[same])
		same++;
	if ((same < len || same < k->same.len) &&
		fault(k, "not_canonical", k->at + same, "the same record has another text", err) <
			0)
		return -1;
	if (check_chain(k, record, err) < 0)
		return -1;
	meet(k->w, k->head, &k->met_head);
	meet(k->w, k->w->seal, &k->met_seal);
	return k->w->record ? k->w->record(k->w->context, k->file, k->line, record, err) : 0;
}

/* The lines of what is in the buffer; what is left of it is the beginning of one. */
static int take_lines(struct walker *k, char *buf, size_t *len, struct error *err)
{
	size_t start = 0;

	for (;;) {
		char *end = memchr(buf + start, '\n', *len - start);
		size_t size;

		if (!end)
			break;
		size = (size_t)(end - (buf + start)) + 1;
		k->line++;
		if (check_line(k, buf + start, size, err) < 0)
			return -1;
		k->at += size;
		start += size;
	}
	memmove(buf, buf + start, *len - start);
	*len -= start;
	return 0;
}

/* From the descriptor to its end; false in *ret_sound when the rest of the file is of no use. */
static int read_file(
	struct walker *k, int fd, char *buf, size_t *len, bool *ret_sound, struct error *err)
{
	for (;;) {
		ssize_t n = read(fd, buf + *len, AUDIT_LINE_MAX + CHUNK - *len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			*ret_sound = false;
			return fault(k, "file_unreadable", k->at, strerror(errno), err);
		}
		if (n == 0)
			return 0;
		*len += (size_t)n;
		if (take_lines(k, buf, len, err) < 0)
			return -1;
		if (*len >= AUDIT_LINE_MAX) {
			*ret_sound = false;
			k->line++;
			k->prev[0] = '\0';
			return fault(k, "line_too_long", k->at, "longer than any line is", err);
		}
	}
}

static int walk_file(struct walker *k, const char *name, bool is_last, bool is_locked, char *buf,
	struct error *err)
{
	struct stat st;
	autoclose int fd = beneath_open_file(k->a->dir, name, &st);
	size_t len = 0;
	bool sound = true;
	int r;

	k->file = name;
	k->line = k->at = 0;
	k->w->files++;
	memcpy(k->w->end.file, name, AUDIT_FILE_SIZE);
	if (fd < 0) {
		k->prev[0] = '\0';
		return fault(k, "file_unreadable", 0, strerror(errno), err);
	}
	r = read_file(k, fd, buf, &len, &sound, err);
	/* What is being written at this moment is whole once the lock is ours. */
	if (r == 0 && sound && is_last && !is_locked && flock(k->a->lock, LOCK_SH) == 0)
		r = read_file(k, fd, buf, &len, &sound, err);
	k->w->end.size = k->at;
	if (r == 0 && sound && len > 0) {
		k->line++;
		r = fault(k, "no_newline", k->at, "the last line is not whole", err);
	}
	return r;
}

static int check_head(struct walker *k, int found, const struct error *why, struct error *err)
{
	const struct audit_walk *w = k->w;

	k->file = NULL;
	k->line = 0;
	if (found < 0)
		return fault(k, "head_forged", 0, why->msg, err);
	if (found == 0)
		return w->end.count == 0 ? 0
					 : fault(k, "head_missing", 0,
						   "the file that says how far the chain goes "
						   "is gone",
						   err);
	if (k->head->count > w->end.count)
		return fault(k, "tail_cut", 0, "the chain once went further than it does now", err);
	return k->met_head ? 0
			   : fault(k, "head_mismatch", 0,
				     "the chain does not lead through where the head says it went",
				     err);
}

static int check_seal(struct walker *k, struct error *err)
{
	const struct audit_walk *w = k->w;

	if (!w->seal || k->met_seal)
		return 0;
	if (w->seal->count > w->end.count)
		return fault(k, "seal_ahead", 0, "the chain ends before the seal was made", err);
	return fault(k, "seal_mismatch", 0, "the chain does not lead through the seal", err);
}

int audit_walk_held(struct audit *a, struct audit_walk *w, bool is_locked, struct error *err)
{
	struct beneath_names CLEANUP(beneath_names_finish) files = {0};
	autofree char *buf = mem_alloc(AUDIT_LINE_MAX + CHUNK);
	struct audit_head head = {0};
	struct error why = {0};
	struct walker k = {.a = a, .w = w, .head = &head};
	int found, r = 0;

	w->files = w->lines = w->faults = 0;
	w->end = (struct audit_head){.hmac = AUDIT_GENESIS};
	memcpy(k.prev, AUDIT_GENESIS, DIGEST_HEX);
	/* Before the files: what it vouches for was there then. */
	found = audit_head_read(a, &head, &why);
	if (audit_files(a, &files, err) < 0)
		return -1;
	k.head = found == 1 ? &head : NULL;
	meet(w, k.head, &k.met_head);
	meet(w, w->seal, &k.met_seal);
	for (size_t i = 0; r == 0 && i < files.count; i++)
		r = walk_file(&k, files.items[i], i + 1 == files.count, is_locked, buf, err);
	if (!is_locked)
		flock(a->lock, LOCK_UN);
	k.head = &head;
	if (r == 0)
		r = check_head(&k, found, &why, err);
	if (r == 0)
		r = check_seal(&k, err);
	bytes_finish(&k.text.body);
	bytes_finish(&k.same);
	return r;
}

int audit_walk(struct audit *a, struct audit_walk *w, struct error *err)
{
	return audit_walk_held(a, w, false, err);
}
