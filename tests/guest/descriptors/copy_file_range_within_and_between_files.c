/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_file_range: positions and offsets, the end of the file, overlapping and appending refused.
 *: native
 *: long
 */
#include <fcntl.h>
#include <unistd.h>

#include "../guest.h"

int main(void)
{
	int a = MUST(open("a", O_CREAT | O_RDWR, 0644)),
	    b = MUST(open("b", O_CREAT | O_RDWR, 0644)), p[2];
	loff_t in = 2, out = 5;
	char room[20] = "";

	MUST(write(a, "0123456789", 10));
	tell("copied", copy_file_range(a, &in, b, &out, 4, 0));
	printf("%ld %ld, %ld in b\n", (long)in, (long)out, (long)MUST(lseek(b, 0, SEEK_END)));
	MUST(lseek(a, 8, SEEK_SET));
	tell("to the end", copy_file_range(a, NULL, b, NULL, 100, 0));
	tell("at the end", copy_file_range(a, NULL, b, NULL, 100, 0));
	MUST(pread(b, room, 11, 0));
	for (int i = 0; i < 11; i++)
		putchar(room[i] ? room[i] : '.');
	puts("");
	in = 0;
	out = 4;
	tell("overlapping", copy_file_range(a, &in, a, &out, 6, 0));
	tell("within", copy_file_range(a, &in, a, &out, 4, 0));
	tell("an odd flag", copy_file_range(a, NULL, b, NULL, 1, 1));
	tell("append", copy_file_range(a, &in, MUST(open("b", O_WRONLY | O_APPEND)), NULL, 1, 0));
	MUST(pipe(p));
	tell("a pipe", copy_file_range(p[0], NULL, b, NULL, 1, 0));
	return 0;
}
