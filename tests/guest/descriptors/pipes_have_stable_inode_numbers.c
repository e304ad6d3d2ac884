/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers that fstat gives pipes, sockets and memory files: the same in every run, one an
 * object, both ends of a pipe alike, however many came and went.
 *: pinned
 */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../guest.h"

static unsigned long number(int fd)
{
	struct stat st;

	MUST(fstat(fd, &st));
	return st.st_ino;
}

int main(void)
{
	int p[2], kept[2], s[2], m = MUST(memfd_create("m", 0));
	unsigned long first, last = 0;

	MUST(pipe(kept));
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	first = number(kept[0]);
	printf("pipe %lu %lu, sockets %lu %lu, memory %lu\n", first, number(kept[1]), number(s[0]),
		number(s[1]), number(m));
	for (int i = 0; i < 9000; i++) {
		MUST(pipe(p));
		if (number(p[0]) == last || number(p[0]) == first)
			puts("a number twice");
		last = number(p[1]);
		close(p[0]);
		close(p[1]);
	}
	printf("last %lu\n", last);
	printf("pipe %lu %lu, sockets %lu %lu, memory %lu\n", number(kept[0]), number(kept[1]),
		number(s[0]), number(s[1]), number(m));
	return 0;
}
