/* SPDX-License-Identifier: Apache-2.0 */
/* The handle of a chain, and appending to it: see audit.h. */
#include "audit/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/walk.h"
#include "base/beneath.h"
#include "base/clock.h"
#include "base/dir.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

/* In the place of a file's name while there is none: of the same length. */
#define NO_FILE "0000-00-00.jsonl"

void audit_close(struct audit *a)
{
	if (!a)
		return;
	fd_close(&a->dir);
	fd_close(&a->lock);
	explicit_bzero(a->key, sizeof(a->key));
	free(a);
}

void audit_cleanup(struct audit **a)
{
	audit_close(*a);
	*a = NULL;
}

static int open_files(struct audit *a, const char *dir, struct error *err)
{
	int make = a->mode == AUDIT_APPEND ? O_CREAT : 0;

	if (make && mkdir(dir, 0700) < 0 && errno != EEXIST)
		return error_sys(err, "make '%s'", dir);
	a->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (a->dir < 0)
		return error_sys(err, "open the audit log '%s'", dir);
	/* A shared lock is enough to read, and any descriptor takes one. */
	a->lock = openat(a->dir, "lock",
		(make ? O_RDWR : O_RDONLY) | make | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	return a->lock < 0 ? error_sys(err, "open the lock of '%s'", dir) : 0;
}

int audit_open(const char *dir, const char *key, enum audit_mode mode, struct audit **ret,
	struct error *err)
{
	auto_audit struct audit *a = mem_alloc(sizeof(*a));

	a->dir = a->lock = -1;
	a->mode = mode;
	if (audit_key_read(key, mode, a->key, err) < 0 || open_files(a, dir, err) < 0)
		return -1;
	*ret = take_ptr(a);
	return 0;
}

int audit_open_state(const char *state, const char *dir, const char *key, enum audit_mode mode,
	struct audit **ret, struct error *err)
{
	autofree char *own_dir = path_join(state, "audit"),
		      *own_key = path_join(state, "audit.key");
	const char *named = getenv("SANDGLASS_AUDIT_KEY");

	if (!key)
		key = named && named[0] ? named : own_key;
	if (!dir)
		dir = own_dir;
	if (mode == AUDIT_APPEND && dir_make(dir, err) < 0)
		return -1;
	return audit_open(dir, key, mode, ret, err);
}

int audit_head_find(struct audit *a, struct audit_head *ret, struct error *err)
{
	struct audit_head h;
	int found;

	if (flock(a->lock, LOCK_SH) < 0)
		return error_sys(err, "lock the audit log");
	found = audit_head_read(a, &h, err);
	flock(a->lock, LOCK_UN);
	if (found <= 0 || h.count == 0)
		return found < 0 ? -1 : 0;
	*ret = h;
	return 1;
}

static int refuse(void *context, const struct audit_fault *f, struct error *err)
{
	(void)context;
	if (f->file)
		return error_set(err, ERR_TAMPERED,
			"%s line %" PRIu64 ": %s (%s); 'audit verify' lists all, and only a new "
			"directory can be appended to",
			f->file, f->line, f->detail, f->code);
	return error_set(err, ERR_TAMPERED,
		"%s (%s); 'audit verify' lists all, and only a new directory can be appended to",
		f->detail, f->code);
}

/* What a killed writer left of a line goes, if nobody was ever told that it was there. */
static int drop_torn(
	const struct audit *a, const struct audit_head *h, json_t **ret_torn, struct error *err)
{
	struct beneath_names CLEANUP(beneath_names_finish) files = {0};
	autoclose int fd = -1;
	autofree char *rest = NULL;
	const char *name;
	char digest[DIGEST_TEXT];
	struct stat st;
	off_t start;
	size_t len;

	if (audit_files(a, &files, err) < 0)
		return -1;
	if (files.count == 0)
		return 0;
	name = files.items[files.count - 1];
	start = strcmp(name, h->file) == 0 ? (off_t)h->size : 0;
	fd = openat(a->dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, "open '%s'", name);
	if (!S_ISREG(st.st_mode) || strcmp(name, h->file) < 0 || st.st_size <= start)
		return 0;
	/* At most one line and a half stand behind the head. */
	if (st.st_size - start > 2 * AUDIT_LINE_MAX || lseek(fd, start, SEEK_SET) < 0)
		return 0;
	if (fd_slurp(fd, 2 * AUDIT_LINE_MAX, &rest, &len, err) < 0)
		return error_wrap(err, "read '%s'", name);
	while (len > 0 && rest[len - 1] != '\n')
		len--;
	if (start + (off_t)len == st.st_size)
		return 0;
	digest_of(rest + len, (size_t)(st.st_size - start) - len, digest);
	if (ftruncate(fd, start + (off_t)len) < 0 || fsync(fd) < 0)
		return error_sys(err, "cut a line that was not finished off '%s'", name);
	*ret_torn = json_object();
	json_put(*ret_torn, "bytes", json_u64((uint64_t)(st.st_size - start) - len));
	json_put(*ret_torn, "digest", json_str(digest));
	json_put(*ret_torn, "file", json_str(name));
	return 0;
}

/* The chain and its head do not meet: a writer was killed between two steps, or worse. */
static int recover(
	const struct audit *a, struct audit_head *h, json_t **ret_torn, struct error *err)
{
	struct audit_walk w = {.fault = refuse};

	if (drop_torn(a, h, ret_torn, err) < 0 ||
		audit_walk_held((struct audit *)(uintptr_t)a, &w, true, err) < 0)
		return -1;
	*h = w.end;
	if (!h->file[0])
		memcpy(h->file, NO_FILE, sizeof(NO_FILE));
	return audit_head_write(a, h, err);
}

/* Whether the files end where the head says; day is the file that is to be written to. */
static bool is_end(const struct audit *a, const struct audit_head *h, const char *day)
{
	struct stat st = {0};

	if (strcmp(day, h->file) > 0 && fstatat(a->dir, day, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		st.st_size > 0)
		return false;
	if (fstatat(a->dir, h->file, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return h->count == 0;
	return S_ISREG(st.st_mode) && (uint64_t)st.st_size == h->size;
}

/* The head, which stands where the files end. */
static int find_end(const struct audit *a, const char *day, struct audit_head *h, json_t **ret_torn,
	struct error *err)
{
	int found = audit_head_read(a, h, err);

	if (found < 0)
		return -1;
	if (!found) {
		struct beneath_names CLEANUP(beneath_names_finish) files = {0};

		if (audit_files(a, &files, err) < 0)
			return -1;
		if (files.count > 0)
			return refuse(NULL,
				&(struct audit_fault){"head_missing", NULL, 0, 0,
					"the file that says how far the chain goes is gone"},
				err);
		*h = (struct audit_head){.file = NO_FILE, .hmac = AUDIT_GENESIS};
		return audit_head_write(a, h, err);
	}
	if (is_end(a, h, day))
		return 0;
	return recover(a, h, ret_torn, err);
}

static json_t *record_of(const struct audit_event *e, const char *prev, uint64_t now)
{
	json_t *o = json_object();
	time_t seconds = (time_t)(now / 1000000000);
	char day[32] = "", stamp[64], user[32];
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(stamp, sizeof(stamp), "%s.%06uZ", day, (unsigned)(now / 1000 % 1000000));
	snprintf(user, sizeof(user), "uid:%u", getuid());
	json_put(o, "actor", json_str(e->actor ? e->actor : user));
	json_put(o, "details",
		e->details ? json_incref((json_t *)(uintptr_t)e->details) : json_object());
	json_put(o, "event_type", json_str(e->type));
	json_put(o, "hmac", json_str(AUDIT_GENESIS));
	json_put(o, "prev_hmac", json_str(prev));
	json_put(o, "resource_id", json_str(e->resource_id));
	json_put(o, "resource_type", json_str(e->resource_type));
	json_put(o, "timestamp", json_str(stamp));
	return o;
}

static int write_line(const struct audit *a, const struct audit_head *h, const struct bytes *line,
	struct error *err)
{
	bool is_new = h->size == 0;
	autoclose int fd = openat(a->dir, h->file,
		O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (is_new ? O_CREAT : 0),
		0600);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, "open '%s' of the audit log", h->file);
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != h->size)
		return error_set(err, ERR_TAMPERED,
			"'%s' of the audit log has bytes that the chain does not know; 'audit "
			"verify' lists them",
			h->file);
	if (fault_point("audit: write") < 0 || fd_write_all(fd, line->data, line->len, err) < 0) {
		/* Half a line would be nobody's; what cannot be cut off now is cut off later. */
		if (ftruncate(fd, (off_t)h->size) < 0)
			return error_sys(err, "write '%s' of the audit log", h->file);
		return error_sys(err, "write '%s' of the audit log", h->file);
	}
	if (fault_point("audit: sync") < 0 || fdatasync(fd) < 0 || (is_new && fsync(a->dir) < 0))
		return error_sys(err, "sync '%s' of the audit log", h->file);
	return 0;
}

/* One record behind the head, which moves. */
static int append(
	const struct audit *a, struct audit_head *h, const struct audit_event *e, struct error *err)
{
	uint64_t now = e->real_ns ? e->real_ns : clock_host_real_ns();
	auto_json json_t *record = record_of(e, h->hmac, now);
	struct audit_text CLEANUP(audit_text_finish) text = {0};
	struct bytes CLEANUP(bytes_finish) line = {0};
	char day[AUDIT_FILE_SIZE], hmac[DIGEST_HEX];

	audit_text_write(&text, record);
	audit_text_hmac(a, &text, h->hmac, hmac);
	audit_text_line(&text, hmac, &line);
	if (line.len > AUDIT_LINE_MAX)
		return error_set(err, ERR_LIMIT, "an audit record of %zu bytes; the limit is %d",
			line.len, AUDIT_LINE_MAX);
	/* A clock that went back does not make the chain go back. */
	audit_file_name(now, day);
	if (strcmp(day, h->file) > 0) {
		memcpy(h->file, day, sizeof(day));
		h->size = 0;
	}
	if (write_line(a, h, &line, err) < 0)
		return -1;
	h->count++;
	h->size += line.len;
	memcpy(h->hmac, hmac, sizeof(hmac));
	if (fault_point("audit: head") < 0)
		return error_sys(err, "write the head of the audit log");
	return audit_head_write(a, h, err);
}

static int append_locked(
	const struct audit *a, const struct audit_event *e, struct audit_head *h, struct error *err)
{
	auto_json json_t *torn = NULL;
	char day[AUDIT_FILE_SIZE];

	audit_file_name(e->real_ns ? e->real_ns : clock_host_real_ns(), day);
	if (find_end(a, day, h, &torn, err) < 0)
		return -1;
	if (torn) {
		struct audit_event told = {.type = "audit.torn_line_removed",
			.actor = "sandglass",
			.resource_type = "audit_log",
			.resource_id = h->file,
			.details = torn,
			.real_ns = e->real_ns};

		if (append(a, h, &told, err) < 0)
			return -1;
	}
	return append(a, h, e, err);
}

int audit_append(
	struct audit *a, const struct audit_event *e, char ret_hmac[DIGEST_HEX], struct error *err)
{
	struct audit_head h;
	int r;

	if (a->mode != AUDIT_APPEND)
		abort(); /* our own bug */
	while (flock(a->lock, LOCK_EX) < 0)
		if (errno != EINTR)
			return error_sys(err, "lock the audit log");
	r = append_locked(a, e, &h, err);
	flock(a->lock, LOCK_UN);
	if (r == 0 && ret_hmac)
		memcpy(ret_hmac, h.hmac, sizeof(h.hmac));
	return r;
}
