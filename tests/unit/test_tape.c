/* SPDX-License-Identifier: Apache-2.0 */
/* Tapes: what is written is read again; what is cut, damaged or no tape at all is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/fd.h"
#include "base/mem.h"
#include "scratch.h"
#include "tape/check.h"
#include "tape/frame.h"

static const char header[] = "{\"format\":1}";

enum { SMALL = 5 };

static void append(struct tape_writer *w, uint64_t i)
{
	char head[8], body[16];
	struct error err;

	snprintf(head, sizeof(head), "%llu:", (unsigned long long)i);
	snprintf(body, sizeof(body), "body %llu", (unsigned long long)(i % 1000));
	assert_int_equal(
		tape_append(w, TAPE_INPUT, (uint32_t)i % 7, i * 10,
			(struct tape_part[2]){{head, strlen(head)}, {body, strlen(body)}}, &err),
		0);
}

/* A tape in memory; a descriptor of it. */
static int make(uint64_t records, bool with_end)
{
	int fd = memfd_create("tape", MFD_CLOEXEC), copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	auto_tape_writer struct tape_writer *w = NULL;
	struct error err;

	assert_true(fd >= 0 && copy >= 0);
	assert_int_equal(tape_create_fd(copy, header, strlen(header), &w, &err), 0);
	for (uint64_t i = 1; i <= records; i++)
		append(w, i);
	assert_int_equal(tape_written(w), records);
	assert_int_equal(with_end ? tape_end(w, &err) : tape_flush(w, &err), 0);
	return fd;
}

static int of_bytes(const unsigned char *data, size_t len)
{
	int fd = memfd_create("tape", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, data, len, NULL), 0);
	return fd;
}

static size_t bytes_of(int fd, unsigned char *buf, size_t room)
{
	ssize_t n = pread(fd, buf, room, 0);

	assert_true(n > 0 && (size_t)n < room);
	return (size_t)n;
}

static void expect_record(const struct tape_record *record, uint64_t i)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%llu:body %llu", (unsigned long long)i,
		(unsigned long long)(i % 1000));

	assert_int_equal(record->ordinal, i);
	assert_int_equal(record->now_ns, i * 10);
	assert_int_equal(record->task, i % 7);
	assert_int_equal(record->kind, TAPE_INPUT);
	assert_int_equal(record->len, n);
	assert_memory_equal(record->payload, text, (size_t)n);
}

static void what_is_written_is_read_again(void **state)
{
	auto_tape_reader struct tape_reader *r = NULL;
	struct tape_record record;
	struct error err;
	uint64_t at;
	size_t len;

	(void)state;
	assert_int_equal(tape_open_fd(make(SMALL, true), &r, &err), 0);
	assert_string_equal(tape_header(r, &len), header);
	assert_int_equal(len, strlen(header));
	assert_true(tape_is_whole(r));
	assert_int_equal(tape_count(r), SMALL);
	for (uint64_t i = 1; i <= SMALL; i++) {
		assert_int_equal(tape_next(r, &record, &err), 1);
		expect_record(&record, i);
	}
	assert_int_equal(tape_next(r, &record, &err), 0);
	assert_null(tape_damage(r, &at));
}

static void a_tape_without_records_is_whole(void **state)
{
	auto_tape_reader struct tape_reader *r = NULL;
	struct tape_check c;
	struct error err;

	(void)state;
	assert_int_equal(tape_open_fd(make(0, true), &r, &err), 0);
	assert_true(tape_is_whole(r));
	assert_int_equal(tape_check(r, &c, &err), 0);
	assert_string_equal(c.damage, "");
	assert_int_equal(c.records, 0);
}

/* What a crash leaves: all records, and the word that it did not end. */
static void without_an_end_every_record_is_read(void **state)
{
	auto_tape_reader struct tape_reader *r = NULL;
	struct tape_check c;
	struct error err;

	(void)state;
	assert_int_equal(tape_open_fd(make(SMALL, false), &r, &err), 0);
	assert_false(tape_is_whole(r));
	assert_int_equal(tape_check(r, &c, &err), 0);
	assert_string_equal(c.damage, "the tape ends without an END record");
	assert_int_equal(c.records, SMALL);
	assert_int_equal(c.damage_at, tape_size(r));
}

static void seeking_finds_each_record(void **state)
{
	enum { MANY = 20000 };
	auto_tape_reader struct tape_reader *r = NULL;
	struct tape_record record;
	struct error err;

	(void)state;
	assert_int_equal(tape_open_fd(make(MANY, true), &r, &err), 0);
	for (uint64_t i = MANY; i > 0; i -= i > 611 ? 611 : i) {
		assert_int_equal(tape_seek(r, i, &err), 1);
		assert_int_equal(tape_next(r, &record, &err), 1);
		expect_record(&record, i);
	}
	assert_int_equal(tape_seek(r, MANY, &err), 1);
	assert_int_equal(tape_next(r, &record, &err), 1);
	assert_int_equal(tape_next(r, &record, &err), 0);
	assert_int_equal(tape_seek(r, MANY + 1, &err), 0);
	assert_int_equal(tape_seek(r, 0, &err), 0);
	assert_int_equal(tape_seek(r, 1, &err), 1);
	assert_int_equal(tape_next(r, &record, &err), 1);
	expect_record(&record, 1);
}

/* Whatever is cut off: the records before it are there, and the cut is told. */
static void a_cut_at_every_byte_leaves_the_records_before_it(void **state)
{
	unsigned char data[4096];
	size_t len;
	int fd = make(SMALL, true);
	uint64_t most = 0;

	(void)state;
	len = bytes_of(fd, data, sizeof(data));
	close(fd);
	for (size_t cut = 0; cut < len; cut++) {
		auto_tape_reader struct tape_reader *r = NULL;
		struct tape_check c;
		struct error err;

		if (tape_open_fd(of_bytes(data, cut), &r, &err) < 0) {
			assert_int_equal(err.code, ERR_FORMAT);
			assert_true(cut < TAPE_START + strlen(header));
			continue;
		}
		assert_false(tape_is_whole(r));
		assert_int_equal(tape_check(r, &c, &err), 0);
		assert_true(c.damage[0]);
		assert_true(c.records >= most && c.records <= most + 1);
		most = c.records;
	}
	assert_int_equal(most, SMALL);
}

/* One byte changed, anywhere: told, and nothing that was read is other than it was written. */
static void a_flip_of_every_byte_is_told(void **state)
{
	unsigned char data[4096];
	int fd = make(SMALL, true);
	size_t len = bytes_of(fd, data, sizeof(data));

	(void)state;
	close(fd);
	for (size_t i = 0; i < len; i++)
		for (int bit = 0; bit < 8; bit += 7) {
			auto_tape_reader struct tape_reader *r = NULL;
			struct tape_record record;
			struct error err;
			uint64_t at, count = 0;

			data[i] ^= (unsigned char)(1 << bit);
			if (tape_open_fd(of_bytes(data, len), &r, &err) < 0) {
				assert_true(i < TAPE_START + strlen(header));
				data[i] ^= (unsigned char)(1 << bit);
				continue;
			}
			while (tape_next(r, &record, &err) > 0)
				expect_record(&record, ++count);
			assert_non_null(tape_damage(r, &at));
			assert_true(at <= i);
			data[i] ^= (unsigned char)(1 << bit);
		}
}

static void exchanged_records_are_told(void **state)
{
	unsigned char data[4096], first[64];
	auto_tape_reader struct tape_reader *r = NULL;
	int fd = make(2, true);
	size_t len = bytes_of(fd, data, sizeof(data)), at = TAPE_START + strlen(header),
	       one = TAPE_FRAME + strlen("1:body 1");
	struct tape_check c;
	struct error err;

	(void)state;
	close(fd);
	memcpy(first, data + at, one);
	memmove(data + at, data + at + one, one);
	memcpy(data + at + one, first, one);
	assert_int_equal(tape_open_fd(of_bytes(data, len), &r, &err), 0);
	assert_int_equal(tape_check(r, &c, &err), 0);
	assert_string_equal(c.damage, "record 2 where record 1 belongs");
	assert_int_equal(c.records, 0);
}

/* Each record's checksum goes on from the header's. */
static void a_record_of_another_tape_is_told(void **state)
{
	unsigned char data[4096];
	auto_tape_reader struct tape_reader *r = NULL;
	int fd = make(1, true);
	size_t len = bytes_of(fd, data, sizeof(data));
	struct tape_check c;
	struct error err;

	(void)state;
	close(fd);
	tape_start_encode(data, TAPE_VERSION, "{\"format\":2}", strlen(header));
	memcpy(data + TAPE_START, "{\"format\":2}", strlen(header));
	assert_int_equal(tape_open_fd(of_bytes(data, len), &r, &err), 0);
	assert_int_equal(tape_check(r, &c, &err), 0);
	assert_string_equal(c.damage, "a record's checksum is wrong");
}

static void other_versions_are_refused(void **state)
{
	unsigned char data[4096];
	struct tape_reader *r = NULL;
	int fd = make(1, true);
	size_t len = bytes_of(fd, data, sizeof(data));
	struct error err;

	(void)state;
	close(fd);
	for (unsigned char version = 0; version <= 3; version += 3) {
		data[8] = version;
		assert_int_equal(tape_open_fd(of_bytes(data, len), &r, &err), -1);
		assert_int_equal(err.code, ERR_UNSUPPORTED);
		assert_non_null(strstr(err.msg, version ? "version 3" : "version 0"));
	}
}

static void version_1_is_read(void **state)
{
	static const char text[] = "{\"format\":1}";
	unsigned char data[TAPE_START + sizeof(text) - 1];
	auto_tape_reader struct tape_reader *r = NULL;
	struct tape_record record;
	struct error err;

	(void)state;
	tape_start_encode(data, 1, text, strlen(text));
	memcpy(data + TAPE_START, text, strlen(text));
	assert_int_equal(tape_open_fd(of_bytes(data, sizeof(data)), &r, &err), 0);
	assert_int_equal(tape_next(r, &record, &err), 0);
}

/* What stands behind the good records is cut off, and what follows counts on; so does the index. */
static void a_cut_tape_is_gone_on_with(void **state)
{
	enum { BEFORE = 9000, AFTER = 500 };
	int fd = make(BEFORE, false), copy = fcntl(fd, F_DUPFD_CLOEXEC, 3),
	    again = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	auto_tape_reader struct tape_reader *r = NULL, *whole = NULL;
	auto_tape_writer struct tape_writer *w = NULL;
	struct tape_record record;
	struct tape_check c;
	struct error err;

	(void)state;
	assert_int_equal(ftruncate(fd, lseek(fd, 0, SEEK_END) - 5), 0);
	assert_int_equal(tape_open_fd(fd, &r, &err), 0);
	while (tape_next(r, &record, &err) > 0)
		continue;
	assert_int_equal(tape_is_torn(r, &err), 1);
	assert_int_equal(tape_continue_fd(copy, r, &w, &err), 0);
	assert_int_equal(tape_written(w), BEFORE - 1);
	for (uint64_t i = BEFORE; i <= BEFORE + AFTER; i++)
		append(w, i);
	assert_int_equal(tape_end(w, &err), 0);
	assert_int_equal(tape_open_fd(again, &whole, &err), 0);
	assert_int_equal(tape_check(whole, &c, &err), 0);
	assert_string_equal(c.damage, "");
	assert_int_equal(tape_count(whole), BEFORE + AFTER);
	for (uint64_t i = 1; i <= BEFORE + AFTER; i += 613) {
		assert_int_equal(tape_seek(whole, i, &err), 1);
		assert_int_equal(tape_next(whole, &record, &err), 1);
		expect_record(&record, i);
	}
}

/* A length that was damaged looks like a record that was cut, but good ones stand behind it. */
static void damage_in_the_middle_is_not_torn(void **state)
{
	int fd = make(20, false);
	auto_tape_reader struct tape_reader *r = NULL;
	struct tape_record record;
	struct error err;

	(void)state;
	assert_int_equal(pwrite(fd, "\x01", 1, TAPE_START + (off_t)strlen(header) + 2), 1);
	assert_int_equal(tape_open_fd(fd, &r, &err), 0);
	assert_int_equal(tape_next(r, &record, &err), 0);
	assert_string_equal(tape_damage(r, &(uint64_t){0}), "a record is cut off");
	assert_int_equal(tape_is_torn(r, &err), 0);
}

static int open_at(const struct scratch *s, const char *name, struct error *err)
{
	auto_tape_reader struct tape_reader *r = NULL;
	autofree char *path = scratch_path(s, name);

	return tape_open(path, &r, err);
}

static void what_is_no_tape_is_refused(void **state)
{
	const struct scratch *s = *state;
	struct error err;

	assert_int_equal(scratch_shell(s, ": >empty; mkfifo fifo; ln -s empty link; mkdir dir; "
					  "truncate -s 5G sparse; echo hello >text"),
		0);
	assert_int_equal(open_at(s, "empty", &err), -1);
	assert_non_null(strstr(err.msg, "it is no tape"));
	assert_int_equal(open_at(s, "fifo", &err), -1);
	assert_non_null(strstr(err.msg, "not a regular file"));
	assert_int_equal(open_at(s, "link", &err), -1);
	assert_non_null(strstr(err.msg, "symbolic link"));
	assert_int_equal(open_at(s, "dir", &err), -1);
	assert_int_equal(open_at(s, "sparse", &err), -1);
	assert_non_null(strstr(err.msg, "it is no tape"));
	assert_int_equal(open_at(s, "text", &err), -1);
	assert_int_equal(open_at(s, "absent", &err), -1);
	assert_int_equal(err.code, ERR_MISSING);
}

/* A tape that was made five gigabytes long: read to its records, and not further. */
static void a_hole_behind_the_records_is_an_end(void **state)
{
	const struct scratch *s = *state;
	autofree char *path = scratch_path(s, "tape");
	auto_tape_writer struct tape_writer *w = NULL;
	auto_tape_reader struct tape_reader *r = NULL;
	struct tape_check c;
	struct error err;

	assert_int_equal(tape_create(path, header, strlen(header), &w, &err), 0);
	append(w, 1);
	assert_int_equal(tape_end(w, &err), 0);
	assert_int_equal(truncate(path, 5ll << 30), 0);
	assert_int_equal(tape_open(path, &r, &err), 0);
	assert_false(tape_is_whole(r));
	assert_int_equal(tape_check(r, &c, &err), 0);
	assert_int_equal(c.records, 1);
	assert_string_equal(c.damage, "an END record that is not the end of the file");
}

static void only_a_tape_is_written_over(void **state)
{
	const struct scratch *s = *state;
	autofree char *path = scratch_path(s, "tape"), *text = scratch_path(s, "text"),
		      *link = scratch_path(s, "link"), *fifo = scratch_path(s, "fifo");
	struct error err;

	assert_int_equal(
		scratch_shell(s, "rm -rf *; echo hello >text; ln -s text link; mkfifo fifo"), 0);
	for (int i = 0; i < 2; i++) {
		auto_tape_writer struct tape_writer *w = NULL;

		assert_int_equal(tape_create(path, header, strlen(header), &w, &err), 0);
		append(w, 1);
		assert_int_equal(tape_end(w, &err), 0);
		assert_int_equal(tape_append(w, TAPE_INPUT, 0, 20,
					 (struct tape_part[2]){{"", 0}, {"", 0}}, &err),
			-1);
	}
	struct tape_writer *none = NULL;

	assert_int_equal(tape_create(text, header, strlen(header), &none, &err), -1);
	assert_int_equal(err.code, ERR_BUSY);
	assert_int_equal(tape_create(link, header, strlen(header), &none, &err), -1);
	assert_int_equal(tape_create(fifo, header, strlen(header), &none, &err), -1);
	assert_int_equal(scratch_shell(s, "test \"$(cat text)\" = hello"), 0);
}

static void a_record_of_an_earlier_time_is_not_written(void **state)
{
	auto_tape_writer struct tape_writer *w = NULL;
	int fd = memfd_create("tape", MFD_CLOEXEC);
	struct tape_part none[2] = {{"", 0}, {"", 0}};
	struct error err;

	(void)state;
	assert_int_equal(tape_create_fd(fd, header, strlen(header), &w, &err), 0);
	assert_int_equal(tape_append(w, TAPE_INPUT, 0, 20, none, &err), 0);
	assert_int_equal(tape_append(w, TAPE_INPUT, 0, 19, none, &err), -1);
}

/* RFC 3720, appendix B.4; and the table agrees with the instruction at every length and place. */
static void crc32c_of_known_bytes(void **state)
{
	unsigned char data[64];

	(void)state;
	memset(data, 0, 32);
	assert_int_equal(crc32c(0, data, 32), 0x8a9136aa);
	memset(data, 0xff, 32);
	assert_int_equal(crc32c(0, data, 32), 0x62a8ab43);
	for (int i = 0; i < 64; i++)
		data[i] = (unsigned char)i;
	assert_int_equal(crc32c(0, data, 32), 0x46dd794e);
	assert_int_equal(crc32c_by_table(0, data, 32), 0x46dd794e);
	for (size_t from = 0; from < 9; from++)
		for (size_t len = 0; len < 50; len++)
			assert_int_equal(crc32c((uint32_t)len, data + from, len),
				crc32c_by_table((uint32_t)len, data + from, len));
	assert_int_equal(crc32c(crc32c(0, data, 13), data + 13, 19), 0x46dd794e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_again),
		cmocka_unit_test(a_tape_without_records_is_whole),
		cmocka_unit_test(without_an_end_every_record_is_read),
		cmocka_unit_test(seeking_finds_each_record),
		cmocka_unit_test(a_cut_at_every_byte_leaves_the_records_before_it),
		cmocka_unit_test(a_flip_of_every_byte_is_told),
		cmocka_unit_test(exchanged_records_are_told),
		cmocka_unit_test(a_record_of_another_tape_is_told),
		cmocka_unit_test(other_versions_are_refused),
		cmocka_unit_test(version_1_is_read),
		cmocka_unit_test(a_cut_tape_is_gone_on_with),
		cmocka_unit_test(damage_in_the_middle_is_not_torn),
		cmocka_unit_test(what_is_no_tape_is_refused),
		cmocka_unit_test(a_hole_behind_the_records_is_an_end),
		cmocka_unit_test(only_a_tape_is_written_over),
		cmocka_unit_test(a_record_of_an_earlier_time_is_not_written),
		cmocka_unit_test(crc32c_of_known_bytes),
	};

	return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
