/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tape: what came into one run from outside, and when, as a file that can only grow. A header
 * says what was run; numbered, checksummed records follow; an END record with an index closes it.
 * The bytes are on docs/format/tape.md. A tape that was cut or damaged is read up to there.
 */
#ifndef TAPE_TAPE_H
#define TAPE_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"

enum {
	TAPE_VERSION = 2,		    /* written; 1 is read too */
	TAPE_HEADER_MAX = 16 * 1024 * 1024, /* bytes of the header's text */
	TAPE_PAYLOAD_MAX = 8 * 1024 * 1024,
};

/* X(NAME, number, name in words, payload) */
#define TAPE_KINDS(X) \
	X(INPUT, 1, "input", "u32 stream, u32 flags, u64 request, then the bytes") \
	X(SIGNAL, 2, "signal", "u32 signal, u64 request") \
	X(OUTCOME, 3, "outcome", "JSON: how the run ended, and what it executed") \
	X(CONNECT, 4, "connect", \
		"u32 stream, u32 type, u32 family, u32 port, 16 bytes of address, u32 errno, u64 " \
		"request") \
	X(RECEIVED, 5, "received", "u32 stream, u32 flags, u64 request, then the bytes") \
	X(SENT, 6, "sent", \
		"u32 stream, u32 flags, u64 request, u64 bytes, their SHA-256, then the first 64 " \
		"of them") \
	X(EFFECT, 10, "effect", "of a journal: 56 bytes, what goes out") \
	X(END, 255, "end", "u64 records, u64 stride, u32 count, then count times u64 offset")

enum tape_kind {
#define X(name, number, words, payload) TAPE_##name = number,
	TAPE_KINDS(X)
#undef X
};

/* In words, or NULL for a number that is none. */
const char *tape_kind_name(unsigned kind);

struct tape_record {
	uint64_t ordinal; /* from 1 */
	uint64_t now_ns;  /* the guest's CLOCK_MONOTONIC; never less than the record's before it */
	uint32_t task;	  /* who it was for, by ordinal; 0: nobody in particular */
	uint16_t kind;
	const unsigned char *payload; /* borrowed until the next call */
	size_t len;
};

/* Writing. */

struct tape_reader;
struct tape_writer;

/*
 * A new tape at path, or over an older tape (or an empty file) there; anything else that stands
 * there is ERR_BUSY and stays. The header is text of at most TAPE_HEADER_MAX bytes. It is on the
 * disk when this returns.
 */
MUST_CHECK int tape_create(const char *path, const char *header, size_t len,
	struct tape_writer **ret, struct error *err);
/* The same in an open file that is empty. Takes fd. */
MUST_CHECK int tape_create_fd(
	int fd, const char *header, size_t len, struct tape_writer **ret, struct error *err);
/*
 * Goes on behind the last record that r gave, in the same file: what follows there is cut off.
 * Takes fd, which is open for reading and writing. r is not of use afterwards.
 */
MUST_CHECK int tape_continue_fd(
	int fd, struct tape_reader *r, struct tape_writer **ret, struct error *err);
/* Closes it; without tape_end it stays open-ended, as after a crash. */
void tape_writer_free(struct tape_writer *w);
void tape_writer_cleanup(struct tape_writer **w);
#define auto_tape_writer CLEANUP(tape_writer_cleanup)

/* One part or two of a payload, so that nobody has to copy bytes behind a head of their own. */
struct tape_part {
	const void *data;
	size_t len;
};
/* The next record. What is written may wait in memory until tape_flush. */
MUST_CHECK int tape_append(struct tape_writer *w, enum tape_kind kind, uint32_t task,
	uint64_t now_ns, const struct tape_part parts[2], struct error *err);
/* To the kernel: it survives our own death. */
MUST_CHECK int tape_flush(struct tape_writer *w, struct error *err);
/* To the disk: it survives that of the machine. */
MUST_CHECK int tape_sync(struct tape_writer *w, struct error *err);
/* Index and END record, on the disk. Nothing can be appended any more. */
MUST_CHECK int tape_end(struct tape_writer *w, struct error *err);
uint64_t tape_written(const struct tape_writer *w); /* records */
uint64_t tape_last_ns(const struct tape_writer *w); /* the last record's time */

/* Reading. */

/*
 * Only a regular file is opened, and no symbolic link. A file whose header is not whole is
 * ERR_FORMAT, one of another version ERR_UNSUPPORTED.
 */
MUST_CHECK int tape_open(const char *path, struct tape_reader **ret, struct error *err);
/* Takes fd. */
MUST_CHECK int tape_open_fd(int fd, struct tape_reader **ret, struct error *err);
void tape_reader_free(struct tape_reader *r);
void tape_reader_cleanup(struct tape_reader **r);
#define auto_tape_reader CLEANUP(tape_reader_cleanup)

/* The header's text with a NUL after it; borrowed. */
const char *tape_header(const struct tape_reader *r, size_t *ret_len);
/* Its END record is in its place: nothing was cut off. Bytes in the middle may be damaged yet. */
bool tape_is_whole(const struct tape_reader *r);
/* Records by its END record; 0 when there is none. */
uint64_t tape_count(const struct tape_reader *r);
uint64_t tape_size(const struct tape_reader *r); /* bytes of the file */
/*
 * 1 and the next record; 0 at the end; -1: the file cannot be read. A record that is not as it was
 * written is an end too, and tape_damage tells it from the regular one.
 */
MUST_CHECK int tape_next(struct tape_reader *r, struct tape_record *ret, struct error *err);
/* After tape_next gave 0: what is wrong there and at which byte, or NULL at the regular end. */
const char *tape_damage(const struct tape_reader *r, uint64_t *ret_offset);
/*
 * Then, too: 1 when that is what a death leaves in the middle of writing, at the file's end; 0 when
 * good records stand behind it; -1.
 */
MUST_CHECK int tape_is_torn(struct tape_reader *r, struct error *err);
/* The next tape_next gives this record: 1; there is none: 0; -1 as tape_next. */
MUST_CHECK int tape_seek(struct tape_reader *r, uint64_t ordinal, struct error *err);

#endif
