/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records behind a good header, with checksums that are made right, so that what lies behind them
 * is reached: each input is a run of heads and payloads.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/fd.h"
#include "tape/check.h"
#include "tape/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The file of these bytes: wherever a head says a length that is there, its checksum is set. */
static void make_file(struct bytes *file, const uint8_t *data, size_t size)
{
	unsigned char start[TAPE_START];
	uint32_t sum = tape_start_encode(start, TAPE_VERSION, "{}", 2);
	size_t at = TAPE_START + 2;

	bytes_put(file, start, sizeof(start));
	bytes_put(file, "{}", 2);
	bytes_put(file, data, size);
	while (file->len - at >= TAPE_FRAME) {
		unsigned char *head = file->data + at;
		uint32_t len = bytes_load_u32(head);

		if (len > file->len - at - TAPE_FRAME)
			return;
		bytes_store_u32(head + TAPE_FRAME_SUMMED,
			crc32c(crc32c(sum, head, TAPE_FRAME_SUMMED), head + TAPE_FRAME, len));
		at += TAPE_FRAME + len;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_tape_reader struct tape_reader *r = NULL;
	auto_bytes struct bytes file = {0};
	autoclose int fd = memfd_create("tape", MFD_CLOEXEC);
	struct tape_record record;
	struct tape_check c;
	struct error err;

	make_file(&file, data, size);
	if (fd < 0 || fd_write_all(fd, file.data, file.len, &err) < 0)
		return 0;
	if (tape_open_fd(take_fd(fd), &r, &err) < 0)
		__builtin_trap();
	if (tape_check(r, &c, &err) < 0)
		return 0;
	for (uint64_t ordinal = 1; ordinal <= c.records; ordinal++)
		if (tape_seek(r, ordinal, &err) > 0 &&
			(tape_next(r, &record, &err) <= 0 || record.ordinal != ordinal))
			__builtin_trap();
	return 0;
}
