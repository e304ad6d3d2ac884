/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a tape: see tape.h.
 *
 * How it works: a window of the file is held in one buffer that grows to the longest payload there
 * may be. No length is believed further than the file goes, and none past its limit. The END record
 * is found from the file's last bytes; its index is used for seeking, and what lies where it points
 * is checked like any record.
 */
#include "tape/tape.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/fd.h"
#include "base/mem.h"
#include "tape/frame.h"
#include "tape/place.h"

/* What fits into the cache is summed as fast as it is copied. */
enum { WINDOW = 256 * 1024 };

struct tape_reader {
	int fd;
	uint64_t size;
	char *header;
	size_t header_len;
	uint32_t sum, version;
	uint64_t first; /* offset of the first record */
	bool is_whole;
	uint64_t end_at, count, stride; /* of the END record, when is_whole */
	uint64_t *index;
	uint32_t index_count;

	uint64_t at, ordinal, last_ns; /* where the next record starts; the last one's */
	unsigned char *window;
	size_t room, held;
	uint64_t window_at;
	bool is_over, is_torn;
	char damage[160];
};

void tape_reader_free(struct tape_reader *r)
{
	if (!r)
		return;
	fd_close(&r->fd);
	free(r->header);
	free(r->index);
	free(r->window);
	free(r);
}

void tape_reader_cleanup(struct tape_reader **r)
{
	tape_reader_free(*r);
}

const char *tape_header(const struct tape_reader *r, size_t *ret_len)
{
	*ret_len = r->header_len;
	return r->header;
}

bool tape_is_whole(const struct tape_reader *r)
{
	return r->is_whole;
}

uint64_t tape_count(const struct tape_reader *r)
{
	return r->count;
}

uint64_t tape_size(const struct tape_reader *r)
{
	return r->size;
}

const char *tape_damage(const struct tape_reader *r, uint64_t *ret_offset)
{
	*ret_offset = r->at;
	return r->damage[0] ? r->damage : NULL;
}

/* The tape ends here, for this reason. */
static int damaged(struct tape_reader *r, const char *fmt, ...) PRINTF_LIKE(2, 3);
static int damaged(struct tape_reader *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->damage, sizeof(r->damage), fmt, ap);
	va_end(ap);
	r->is_over = true;
	r->is_torn = false;
	return 0;
}

/* The same, of a kind that a writer's death leaves behind. */
static int torn(struct tape_reader *r, const char *what)
{
	damaged(r, "%s", what);
	r->is_torn = true;
	return 0;
}

/* The bytes at an offset: 1 and *ret (borrowed), 0 when the file ends before them, -1. */
static int look(struct tape_reader *r, uint64_t at, size_t len, const unsigned char **ret,
	struct error *err)
{
	if (at > r->size || len > r->size - at)
		return 0;
	if (len > r->room) {
		free(r->window);
		r->room = len > WINDOW ? len : WINDOW;
		r->window = mem_alloc(r->room);
		r->held = 0;
	}
	if (at < r->window_at || at + len > r->window_at + r->held) {
		r->window_at = at;
		r->held = 0;
		while (r->held < len) {
			ssize_t n = pread(r->fd, r->window + r->held, r->room - r->held,
				(off_t)(at + r->held));

			if (n < 0 && errno == EINTR)
				continue;
			if (n < 0)
				return error_sys(err, "read the tape");
			if (n == 0) /* it was cut while we read */
				return 0;
			r->held += (size_t)n;
		}
	}
	*ret = r->window + (at - r->window_at);
	return 1;
}

/*
 * The record at an offset with its payload: 1; 0: it is damaged, which is said in r->damage; -1.
 * *ret_next is where the one behind it starts.
 */
static int read_frame(struct tape_reader *r, uint64_t at, struct tape_record *ret,
	uint64_t *ret_next, struct error *err)
{
	const unsigned char *p = NULL;
	struct tape_frame f;
	uint32_t sum;
	int got;

	if (at == r->size)
		return torn(r, "the tape ends without an END record");
	got = look(r, at, TAPE_FRAME, &p, err);
	if (got <= 0)
		return got < 0 ? -1 : torn(r, "a record's head is cut off");
	tape_frame_decode(p, &f);
	if (f.len > TAPE_PAYLOAD_MAX)
		return damaged(r, "a record of %u bytes, more than there may be", f.len);
	got = look(r, at, TAPE_FRAME + f.len, &p, err);
	if (got <= 0)
		return got < 0 ? -1 : torn(r, "a record is cut off");
	sum = crc32c(r->sum, p, TAPE_FRAME_SUMMED);
	if (crc32c(sum, p + TAPE_FRAME, f.len) != f.checksum)
		/* A machine's death may leave room for a last record that was not written. */
		return at + TAPE_FRAME + f.len == r->size
			       ? torn(r, "a record's checksum is wrong")
			       : damaged(r, "a record's checksum is wrong");
	if (f.flags || !tape_kind_name(f.kind))
		return damaged(r, "a record of unknown kind %u", f.kind);
	*ret = (struct tape_record){.ordinal = f.ordinal,
		.now_ns = f.now_ns,
		.task = f.task,
		.kind = f.kind,
		.payload = p + TAPE_FRAME,
		.len = f.len};
	*ret_next = at + TAPE_FRAME + f.len;
	return 1;
}

/* The END record's payload into the reader; false: it is none. */
static bool take_index(struct tape_reader *r, const struct tape_record *end)
{
	struct bytes_reader b = bytes_reader(end->payload, end->len);
	uint64_t count = bytes_get_u64(&b), stride = bytes_get_u64(&b);
	uint32_t entries = bytes_get_u32(&b);

	if (b.bad || entries > TAPE_INDEX_MAX || end->len != TAPE_END_FIXED + 8 * (size_t)entries ||
		stride == 0 || end->ordinal != count + 1)
		return false;
	r->index = mem_array(entries + 1, sizeof(*r->index));
	for (uint32_t i = 0; i < entries; i++)
		r->index[i] = bytes_get_u64(&b);
	r->count = count;
	r->stride = stride;
	r->index_count = entries;
	return true;
}

/* Does the file end as a whole tape does? 1, 0, -1. */
static int find_end(struct tape_reader *r, struct error *err)
{
	struct tape_record end = {0};
	const unsigned char *p = NULL;
	uint64_t at, next = 0;
	int got;

	if (r->size < r->first + TAPE_FRAME + TAPE_TRAILER)
		return 0;
	got = look(r, r->size - TAPE_TRAILER, TAPE_TRAILER, &p, err);
	if (got <= 0 || memcmp(p, tape_end_magic, TAPE_MAGIC_SIZE) != 0)
		return got < 0 ? -1 : 0;
	at = bytes_load_u64(p + TAPE_MAGIC_SIZE);
	if (at < r->first || at >= r->size)
		return 0;
	got = read_frame(r, at, &end, &next, err);
	if (got <= 0 || end.kind != TAPE_END || next != r->size - TAPE_TRAILER ||
		!take_index(r, &end))
		return got < 0 ? -1 : 0;
	r->end_at = at;
	return 1;
}

static int read_start(struct tape_reader *r, struct error *err)
{
	unsigned char again[TAPE_START];
	const unsigned char *p = NULL;
	uint32_t len;
	int got = look(r, 0, TAPE_START, &p, err);

	if (got < 0)
		return -1;
	if (got == 0 || memcmp(p, tape_magic, TAPE_MAGIC_SIZE) != 0)
		return error_set(err, ERR_FORMAT, "it is no tape");
	r->version = bytes_load_u32(p + 8);
	if (r->version < 1 || r->version > TAPE_VERSION)
		return error_set(err, ERR_UNSUPPORTED,
			"a tape of version %u; this program reads versions up to %d", r->version,
			TAPE_VERSION);
	len = bytes_load_u32(p + 16);
	if (bytes_load_u32(p + 12) != 0 || len > TAPE_HEADER_MAX)
		return error_set(err, ERR_FORMAT, "the tape's header is damaged");
	got = look(r, 0, TAPE_START + (size_t)len, &p, err);
	if (got <= 0)
		return got < 0 ? -1
			       : error_set(err, ERR_FORMAT, "the tape is cut off in its header");
	r->header = mem_alloc((size_t)len + 1);
	memcpy(r->header, p + TAPE_START, len);
	r->header_len = len;
	r->sum = tape_start_encode(again, r->version, r->header, len);
	if (memcmp(again, p, TAPE_START) != 0 || memchr(r->header, '\0', len))
		return error_set(err, ERR_FORMAT, "the tape's header is damaged");
	r->at = r->first = TAPE_START + (uint64_t)len;
	return 0;
}

int tape_open_fd(int fd, struct tape_reader **ret, struct error *err)
{
	auto_tape_reader struct tape_reader *r = mem_alloc(sizeof(*r));
	struct stat st;
	int whole;

	r->fd = fd;
	if (fstat(fd, &st) < 0)
		return error_sys(err, "the tape");
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERR_FORMAT, "it is not a regular file");
	r->size = (uint64_t)st.st_size;
	if (read_start(r, err) < 0)
		return -1;
	whole = find_end(r, err);
	if (whole < 0)
		return -1;
	r->is_whole = whole > 0;
	r->is_over = false;
	r->damage[0] = '\0';
	*ret = take_ptr(r);
	return 0;
}

int tape_open(const char *path, struct tape_reader **ret, struct error *err)
{
	autoclose int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 && errno == ELOOP)
		return error_set(err, ERR_FORMAT,
			"tape '%.300s': it is a symbolic link; name the file itself", path);
	if (fd < 0)
		return error_sys(err, "tape '%.300s'", path);
	if (tape_open_fd(take_fd(fd), ret, err) < 0)
		return error_wrap(err, "tape '%.300s'", path);
	return 0;
}

/* An END record where the next record should be. */
static int take_end(struct tape_reader *r, const struct tape_record *end)
{
	r->is_over = true;
	/* find_end looked at it from the file's other end. */
	if (!r->is_whole || r->at != r->end_at)
		return r->is_whole ? damaged(r, "an END record that is not the end of the file")
				   : torn(r, "an END record that is not the end of the file");
	if (end->ordinal != r->ordinal + 1)
		return damaged(r, "the END record counts other records");
	return 0;
}

int tape_next(struct tape_reader *r, struct tape_record *ret, struct error *err)
{
	struct tape_record record = {0};
	uint64_t next = 0;
	int got;

	if (r->is_over)
		return 0;
	got = read_frame(r, r->at, &record, &next, err);
	if (got <= 0)
		return got;
	if (record.kind == TAPE_END)
		return take_end(r, &record);
	if (record.ordinal != r->ordinal + 1)
		return damaged(r, "record %llu where record %llu belongs",
			(unsigned long long)record.ordinal, (unsigned long long)r->ordinal + 1);
	if (record.now_ns < r->last_ns)
		return damaged(r, "a record of an earlier time than the one before it");
	r->at = next;
	r->ordinal = record.ordinal;
	r->last_ns = record.now_ns;
	*ret = record;
	return 1;
}

/* Goes to a record that the index names; anything odd there: to the start. */
static int jump(struct tape_reader *r, uint64_t ordinal, struct error *err)
{
	uint64_t entry = r->index_count ? (ordinal - 1) / r->stride : 0, next = 0;
	struct tape_record record = {0};
	int got = 0;

	r->is_over = false;
	r->damage[0] = '\0';
	if (entry >= r->index_count && r->index_count)
		entry = r->index_count - 1;
	if (entry > 0 && r->index[entry] >= r->first)
		got = read_frame(r, r->index[entry], &record, &next, err);
	if (got < 0)
		return -1;
	r->is_over = false;
	r->damage[0] = '\0';
	r->last_ns = 0;
	if (got > 0 && record.kind != TAPE_END && record.ordinal == entry * r->stride + 1) {
		r->at = r->index[entry];
		r->ordinal = entry * r->stride;
	} else {
		r->at = r->first;
		r->ordinal = 0;
	}
	return 0;
}

/* A good record of this tape, later than the last one that was read, at an offset: 1, 0, -1. */
static int is_later_frame(struct tape_reader *r, uint64_t at, struct error *err)
{
	const unsigned char *p = NULL;
	struct tape_frame f;
	int got = look(r, at, TAPE_FRAME, &p, err);

	if (got <= 0)
		return got;
	tape_frame_decode(p, &f);
	if (f.flags || !tape_kind_name(f.kind) || f.len > TAPE_PAYLOAD_MAX ||
		f.ordinal <= r->ordinal || f.ordinal - r->ordinal > r->size / TAPE_FRAME)
		return 0;
	got = look(r, at, TAPE_FRAME + f.len, &p, err);
	return got <= 0 ? got
			: crc32c(crc32c(r->sum, p, TAPE_FRAME_SUMMED), p + TAPE_FRAME, f.len) ==
				  f.checksum;
}

int tape_is_torn(struct tape_reader *r, struct error *err)
{
	int later = 0;

	if (!r->is_over || !r->damage[0] || !r->is_torn)
		return 0;
	/* A length that was damaged reaches over the end just as a record that was cut does. */
	for (uint64_t at = r->at + 1; later == 0 && at < r->size; at++)
		later = is_later_frame(r, at, err);
	return later < 0 ? -1 : !later;
}

struct tape_place tape_reader_place(const struct tape_reader *r)
{
	return (struct tape_place){.version = r->version,
		.sum = r->sum,
		.offset = r->at,
		.ordinal = r->ordinal,
		.last_ns = r->last_ns};
}

int tape_seek(struct tape_reader *r, uint64_t ordinal, struct error *err)
{
	struct tape_record record = {0};
	int got = 1;

	if (ordinal == 0 || (r->is_whole && ordinal > r->count))
		return 0;
	/* Near and ahead: no jump. */
	if (r->is_over || ordinal <= r->ordinal ||
		(r->index_count && ordinal - r->ordinal > r->stride))
		if (jump(r, ordinal, err) < 0)
			return -1;
	while (got > 0 && r->ordinal + 1 < ordinal)
		got = tape_next(r, &record, err);
	if (got <= 0)
		return got;
	/* There may be none behind it: looked at, and put back. */
	uint64_t at = r->at, last_ns = r->last_ns;

	got = tape_next(r, &record, err);
	if (got <= 0)
		return got;
	r->at = at;
	r->ordinal = ordinal - 1;
	r->last_ns = last_ns;
	return 1;
}
