/* SPDX-License-Identifier: Apache-2.0 */
/* An object stored as a difference, from anybody: reading it ends, and within its size. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fd.h"
#include "cas/delta.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct delta_reader CLEANUP(delta_reader_finish) r = {.fd = -1, .base = -1};
	int fd = memfd_create("delta", MFD_CLOEXEC), base = memfd_create("base", MFD_CLOEXEC);
	char out[4096];
	uint64_t sum = 0;
	size_t n;

	if (fd < 0 || base < 0 || fd_write_all(fd, data, size, NULL) < 0 ||
		ftruncate(base, 100000) < 0)
		abort();
	if (delta_reader_init(&r, fd, base, NULL) < 0)
		return 0;
	while (delta_reader_next(&r, out, sizeof(out), &n, NULL) > 0) {
		sum += n;
		if (n == 0 || sum > r.size)
			abort();
		if (sum > 10 << 20)
			break;
	}
	return 0;
}
