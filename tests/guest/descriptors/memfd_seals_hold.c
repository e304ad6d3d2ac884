/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memfd: seals against writing, growing, shrinking and sealing; a mapping that writes stands in the
 * way of F_SEAL_WRITE.
 *: native
 *: long
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../guest.h"

int main(void)
{
	int fd = MUST(memfd_create("sealed", MFD_ALLOW_SEALING)),
	    plain = MUST(memfd_create("plain", 0));
	char link[64], target[64] = "";
	void *p;

	MUST(ftruncate(fd, 8192));
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	tell("mapped", fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE));
	munmap(p, 4096);
	tell("shrink", fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
	tell("shorter", ftruncate(fd, 4096));
	tell("longer", ftruncate(fd, 12288));
	tell("grow", fcntl(fd, F_ADD_SEALS, F_SEAL_GROW));
	tell("longer", ftruncate(fd, 16384));
	tell("beyond", pwrite(fd, "x", 1, 12288));
	tell("within", pwrite(fd, "x", 1, 0));
	tell("write", fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SEAL));
	tell("within", pwrite(fd, "x", 1, 0));
	tell("a writing mapping",
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
	tell("more seals", fcntl(fd, F_ADD_SEALS, F_SEAL_GROW));
	printf("seals %x\n", (unsigned)fcntl(fd, F_GET_SEALS));
	tell("without sealing", fcntl(plain, F_ADD_SEALS, F_SEAL_GROW));
	printf("seals %x\n", (unsigned)fcntl(plain, F_GET_SEALS));
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	MUST(readlink(link, target, sizeof(target) - 1));
	puts(target);
	tell("an odd flag", memfd_create("x", 0x4000));
	return 0;
}
