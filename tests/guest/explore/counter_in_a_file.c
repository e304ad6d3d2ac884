/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong on purpose: two processes read a number from a file and write the next one back.
 *: long
 *: out 2
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int look(void)
{
	char text[16] = "";
	int fd = open("number", O_RDONLY);

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) < 0)
		_exit(1);
	close(fd);
	return text[0] ? text[0] - '0' : 0;
}

static void count(void)
{
	char digit = (char)('1' + look());
	int fd = open("number", O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, &digit, 1) != 1)
		_exit(1);
	close(fd);
}

int main(void)
{
	for (int i = 0; i < 2; i++)
		if (fork() == 0) {
			count();
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	printf("%d\n", look());
	return 0;
}
