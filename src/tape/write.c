/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a tape: see tape.h.
 *
 * How it works: records gather in a buffer and leave it whole, so that a death of ours cuts the
 * file between two of them, or in the last one, which its checksum then tells. The index holds the
 * place of every stride-th record; when it is full, every other entry goes and the stride doubles,
 * so it needs no more memory for a longer tape.
 */
#include "tape/tape.h"

#include <errno.h>
#include <fcntl.h>
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

enum { BUFFER = 256 * 1024 };

struct tape_writer {
	int fd;
	uint32_t sum; /* the header's */
	uint64_t records, offset, last_ns;
	uint64_t stride;
	uint64_t index[TAPE_INDEX_MAX];
	uint32_t index_count;
	bool has_ended;
	size_t len;
	unsigned char buffer[BUFFER];
};

void tape_writer_free(struct tape_writer *w)
{
	if (!w)
		return;
	fd_close(&w->fd);
	free(w);
}

void tape_writer_cleanup(struct tape_writer **w)
{
	tape_writer_free(*w);
}

uint64_t tape_written(const struct tape_writer *w)
{
	return w->records;
}

uint64_t tape_last_ns(const struct tape_writer *w)
{
	return w->last_ns;
}

int tape_flush(struct tape_writer *w, struct error *err)
{
	size_t len = w->len;

	w->len = 0;
	return len && fd_write_all(w->fd, w->buffer, len, err) < 0
		       ? error_wrap(err, "write the tape")
		       : 0;
}

int tape_sync(struct tape_writer *w, struct error *err)
{
	if (tape_flush(w, err) < 0)
		return -1;
	return fdatasync(w->fd) < 0 ? error_sys(err, "write the tape to the disk") : 0;
}

static int put(struct tape_writer *w, const void *data, size_t len, struct error *err)
{
	if (len > BUFFER - w->len && tape_flush(w, err) < 0)
		return -1;
	w->offset += len;
	if (len >= BUFFER)
		return fd_write_all(w->fd, data, len, err) < 0 ? error_wrap(err, "write the tape")
							       : 0;
	if (len)
		memcpy(w->buffer + w->len, data, len);
	w->len += len;
	return 0;
}

int tape_create_fd(
	int fd, const char *header, size_t len, struct tape_writer **ret, struct error *err)
{
	auto_tape_writer struct tape_writer *w = mem_alloc(sizeof(*w));
	unsigned char start[TAPE_START];

	w->fd = fd;
	w->stride = 1;
	if (len > TAPE_HEADER_MAX)
		return error_set(err, ERR_LIMIT, "tape header of %zu bytes", len);
	w->sum = tape_start_encode(start, TAPE_VERSION, header, len);
	if (put(w, start, sizeof(start), err) < 0 || put(w, header, len, err) < 0 ||
		tape_sync(w, err) < 0)
		return -1;
	*ret = take_ptr(w);
	return 0;
}

/* What stands there may be lost: nothing yet, or an older tape. */
static int check_replaceable(int fd, const char *path, struct error *err)
{
	char magic[TAPE_MAGIC_SIZE];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_sys(err, "tape '%.300s'", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERR_BUSY, "tape '%.300s' is not a regular file", path);
	if (st.st_size == 0 || (pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
				       memcmp(magic, tape_magic, sizeof(magic)) == 0))
		return 0;
	return error_set(err, ERR_BUSY,
		"'%.300s' exists and is no tape: it is left alone; choose another name", path);
}

int tape_create(const char *path, const char *header, size_t len, struct tape_writer **ret,
	struct error *err)
{
	autoclose int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);

	if (fd < 0 && errno == ELOOP)
		return error_set(err, ERR_BUSY, "tape '%.300s' is a symbolic link", path);
	if (fd < 0)
		return error_sys(err, "tape '%.300s'", path);
	if (check_replaceable(fd, path, err) < 0)
		return -1;
	if (ftruncate(fd, 0) < 0)
		return error_sys(err, "empty the tape '%.300s'", path);
	return tape_create_fd(take_fd(fd), header, len, ret, err);
}

static void note_place(struct tape_writer *w)
{
	if (w->records % w->stride)
		return;
	if (w->index_count == TAPE_INDEX_MAX) {
		for (uint32_t i = 0; i < TAPE_INDEX_MAX / 2; i++)
			w->index[i] = w->index[2 * i];
		w->index_count = TAPE_INDEX_MAX / 2;
		w->stride *= 2;
		if (w->records % w->stride)
			return;
	}
	w->index[w->index_count++] = w->offset;
}

static int append(struct tape_writer *w, struct tape_frame *f, const struct tape_part parts[2],
	struct error *err)
{
	unsigned char head[TAPE_FRAME];
	uint32_t sum;

	f->ordinal = w->records + 1;
	f->len = (uint32_t)(parts[0].len + parts[1].len);
	tape_frame_encode(head, f);
	sum = crc32c(w->sum, head, TAPE_FRAME_SUMMED);
	sum = crc32c(sum, parts[0].data, parts[0].len);
	sum = crc32c(sum, parts[1].data, parts[1].len);
	bytes_store_u32(head + TAPE_FRAME_SUMMED, sum);
	if (put(w, head, sizeof(head), err) < 0)
		return -1;
	for (int i = 0; i < 2; i++)
		if (put(w, parts[i].data, parts[i].len, err) < 0)
			return -1;
	return 0;
}

int tape_append(struct tape_writer *w, enum tape_kind kind, uint32_t task, uint64_t now_ns,
	const struct tape_part parts[2], struct error *err)
{
	struct tape_frame f = {.kind = (uint16_t)kind, .now_ns = now_ns, .task = task};

	if (w->has_ended || kind == TAPE_END)
		return error_set(err, ERR_CLOSED, "the tape has ended");
	if (parts[0].len + parts[1].len > TAPE_PAYLOAD_MAX)
		return error_set(
			err, ERR_LIMIT, "tape record of %zu bytes", parts[0].len + parts[1].len);
	if (now_ns < w->last_ns)
		return error_set(err, ERR_FORMAT, "tape record of an earlier time");
	note_place(w);
	if (append(w, &f, parts, err) < 0)
		return -1;
	w->last_ns = now_ns;
	w->records++;
	return 0;
}

/* The places of the records that are there already. */
static int take_places(
	struct tape_writer *w, struct tape_reader *r, uint64_t records, struct error *err)
{
	struct tape_record record;
	int got = tape_seek(r, 1, err);

	while (got > 0 && w->records < records) {
		w->offset = tape_reader_place(r).offset;
		note_place(w);
		got = tape_next(r, &record, err);
		w->records++;
	}
	return got < 0 ? -1 : 0;
}

int tape_continue_fd(int fd, struct tape_reader *r, struct tape_writer **ret, struct error *err)
{
	auto_tape_writer struct tape_writer *w = mem_alloc(sizeof(*w));
	struct tape_place end = tape_reader_place(r);

	w->fd = fd;
	w->stride = 1;
	w->sum = end.sum;
	if (end.version != TAPE_VERSION)
		return error_set(err, ERR_UNSUPPORTED,
			"a tape of version %u; this program goes on with version %d only",
			end.version, TAPE_VERSION);
	if (take_places(w, r, end.ordinal, err) < 0)
		return -1;
	w->offset = end.offset;
	w->last_ns = end.last_ns;
	if (ftruncate(fd, (off_t)end.offset) < 0 || lseek(fd, (off_t)end.offset, SEEK_SET) < 0)
		return error_sys(err, "go on with the tape");
	if (tape_sync(w, err) < 0)
		return -1;
	*ret = take_ptr(w);
	return 0;
}

int tape_end(struct tape_writer *w, struct error *err)
{
	struct tape_frame f = {.kind = TAPE_END, .now_ns = w->last_ns};
	unsigned char trailer[TAPE_TRAILER];
	auto_bytes struct bytes b = {0};
	uint64_t at = w->offset;

	if (w->has_ended)
		return error_set(err, ERR_CLOSED, "the tape has ended");
	w->has_ended = true;
	bytes_put_u64(&b, w->records);
	bytes_put_u64(&b, w->stride);
	bytes_put_u32(&b, w->index_count);
	for (uint32_t i = 0; i < w->index_count; i++)
		bytes_put_u64(&b, w->index[i]);
	memcpy(trailer, tape_end_magic, TAPE_MAGIC_SIZE);
	bytes_store_u64(trailer + TAPE_MAGIC_SIZE, at);
	if (append(w, &f, (struct tape_part[2]){{b.data, b.len}, {"", 0}}, err) < 0 ||
		put(w, trailer, sizeof(trailer), err) < 0)
		return -1;
	return tape_sync(w, err);
}
