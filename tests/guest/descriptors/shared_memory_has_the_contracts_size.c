/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The largest shared mapping that is granted is the contract's memory, not what the host has.
 *: pinned
 *: out anonymous 2147483648
 *: out of /dev/zero 2147483648
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "../guest.h"

static size_t largest(int flags, int fd)
{
	size_t fits = 4096, fails = (size_t)1 << 46;

	while (fails - fits > 4096) {
		size_t middle = (fits + (fails - fits) / 2) & ~(size_t)4095;
		void *p = mmap(NULL, middle, PROT_READ | PROT_WRITE, flags, fd, 0);

		if (p == MAP_FAILED) {
			fails = middle;
			continue;
		}
		munmap(p, middle);
		fits = middle;
	}
	return fits;
}

int main(void)
{
	printf("anonymous %zu\n", largest(MAP_SHARED | MAP_ANONYMOUS, -1));
	printf("of /dev/zero %zu\n", largest(MAP_SHARED, MUST(open("/dev/zero", O_RDWR))));
	return 0;
}
