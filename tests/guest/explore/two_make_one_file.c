/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong on purpose: each of two processes makes the file when it is not there, and writes its
 * greeting; both do when the other comes between the look and the making.
 *: out 1 greeting
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void greet(void)
{
	int fd;

	if (access("greeting", F_OK) == 0)
		return;
	fd = open("greeting", O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (fd < 0 || write(fd, "hello\n", 6) != 6)
		_exit(1);
	close(fd);
}

int main(void)
{
	char text[64];
	int fd;

	for (int i = 0; i < 2; i++)
		if (fork() == 0) {
			greet();
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	fd = open("greeting", O_RDONLY);
	printf("%d greeting\n", (int)read(fd, text, sizeof(text)) / 6);
	return 0;
}
