/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Anonymous and memfd memory, a file mapped by two: what one writes the other sees, in turns that a
 * pipe gives.
 *: native
 *: long
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guest.h"

static void turns(const char *name, int *p)
{
	int to[2], from[2];
	char c = 0;

	MUST(pipe(to));
	MUST(pipe(from));
	fflush(stdout);
	if (MUST(fork()) == 0) {
		for (int i = 0; i < 100; i++) {
			MUST(read(to[0], &c, 1));
			p[1] += p[0];
			MUST(write(from[1], "x", 1));
		}
		_exit(0);
	}
	for (int i = 0; i < 100; i++) {
		p[0] = i;
		MUST(write(to[1], "x", 1));
		MUST(read(from[0], &c, 1));
	}
	MUST(wait(NULL));
	printf("%s: %d\n", name, p[1]);
}

static int *map(int fd)
{
	int *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return p;
}

int main(void)
{
	int fd = MUST(memfd_create("shared", 0)), file = MUST(open("file", O_CREAT | O_RDWR, 0644)),
	    sum[2];

	MUST(ftruncate(fd, 4096));
	MUST(ftruncate(file, 4096));
	turns("anonymous", map(-1));
	turns("memfd", map(fd));
	turns("file", map(file));
	MUST(pread(file, sum, sizeof(sum), 0));
	printf("in the file: %d\n", sum[1]);
	turns("/dev/zero", map(MUST(open("/dev/zero", O_RDWR))));
	return 0;
}
