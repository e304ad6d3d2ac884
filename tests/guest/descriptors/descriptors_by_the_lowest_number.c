/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers: the lowest free one, dup2 over an open one, F_DUPFD, close_range, close on exec, shared
 * positions, the limit.
 *: native
 *: long
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../guest.h"

int main(int argc, char **argv)
{
	struct rlimit limit;
	int a, b, count = 0;

	if (argc > 1) {
		for (int i = 3; i < 64; i++)
			if (fcntl(i, F_GETFD) >= 0)
				printf("%d is open after exec\n", i);
		return 0;
	}
	close_range(3, ~0u, 0);
	a = MUST(open("/dev/null", O_RDWR));
	b = MUST(open("file", O_CREAT | O_RDWR, 0644));
	printf("%d %d\n", a, b);
	close(a);
	tell("dup", dup(b));
	tell("dup2 onto itself", dup2(b, b));
	tell("dup3 onto itself", dup3(b, b, 0));
	tell("dup2", dup2(b, 20));
	MUST(write(20, "abcdef", 6));
	printf("position %ld\n", (long)MUST(lseek(b, 0, SEEK_CUR)));
	tell("from 10", fcntl(b, F_DUPFD_CLOEXEC, 10));
	tell("again", fcntl(b, F_DUPFD, 10));
	tell("flags", fcntl(10, F_GETFD));
	MUST(close_range(12, 100, 0));
	tell("closed", fcntl(20, F_GETFD));
	MUST(close_range(3, 3, CLOSE_RANGE_CLOEXEC));
	tell("on exec", fcntl(3, F_GETFD));
	limit = (struct rlimit){40, 40};
	MUST(setrlimit(RLIMIT_NOFILE, &limit));
	while (dup(b) >= 0)
		count++;
	printf("%d more: %s\n", count, strerror(errno));
	tell("beyond the limit", dup2(b, 40));
	tell("negative", dup2(b, -1));
	tell("bad", dup(99));
	MUST(close_range(13, ~0u, 0));
	fflush(stdout);
	execl(argv[0], argv[0], "again", NULL);
	return 1;
}
