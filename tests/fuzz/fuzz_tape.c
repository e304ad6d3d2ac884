/* SPDX-License-Identifier: Apache-2.0 */
/* A file that calls itself a tape: read, checked and sought in, or refused. */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/fd.h"
#include "tape/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_tape_reader struct tape_reader *r = NULL;
	autoclose int fd = memfd_create("tape", MFD_CLOEXEC);
	struct tape_record record;
	struct tape_check c;
	struct error err;

	if (fd < 0 || fd_write_all(fd, data, size, &err) < 0)
		return 0;
	if (tape_open_fd(take_fd(fd), &r, &err) < 0 || tape_check(r, &c, &err) < 0)
		return 0;
	for (uint64_t ordinal = c.records + 2; ordinal > 0; ordinal -= ordinal > 7 ? 7 : ordinal)
		if (tape_seek(r, ordinal, &err) > 0 &&
			(tape_next(r, &record, &err) <= 0 || record.ordinal != ordinal))
			__builtin_trap();
	return 0;
}
