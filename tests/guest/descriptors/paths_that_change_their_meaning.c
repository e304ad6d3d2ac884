/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A path that led to nothing, or to a plain file, leads into /proc or to a FIFO after its directory
 * was made, moved or linked anew: it is looked at again. The number of a pipe would else be the
 * host's, and the open would block in the kernel.
 *: pinned
 *: out before: -1
 *: out made: pipe of our numbers
 *: out moved: pipe of our numbers
 *: out linked: 1
 *: out fifo: opened
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The kernel draws such numbers from a counter of the whole host; ours are small. */
static void tell_pipe(const char *what, const char *path)
{
	char text[64] = "";
	ssize_t n = readlink(path, text, sizeof(text) - 1);
	long number = n > 6 && strncmp(text, "pipe:[", 6) == 0 ? strtol(text + 6, NULL, 10) : -1;

	printf("%s: %s\n", what,
		number < 0	? "no pipe"
		: number < 3000 ? "pipe of our numbers"
				: "pipe of the host's numbers");
}

static void check(int failed)
{
	if (failed) {
		perror("paths");
		exit(1);
	}
}

int main(void)
{
	char root[] = "/tmp/paths-XXXXXX", text[8], path[64];
	int ends[2], fd;
	pid_t pid;

	check(!mkdtemp(root) || chdir(root) != 0 || pipe(ends) != 0 || dup2(ends[0], 30) != 30);
	snprintf(path, sizeof(path), "%s/d/30", root);
	printf("before: %zd\n", readlink(path, text, sizeof(text)));
	check(symlink("/proc/self/fd", "d") != 0);
	tell_pipe("made", path);

	check(unlink("d") != 0 || mkdir("d", 0755) != 0 || symlink("x", "d/30") != 0);
	check(readlink(path, text, sizeof(text)) != 1);
	check(rename("d", "old") != 0 || symlink("/proc/self/fd", "e") != 0 ||
		rename("e", "d") != 0);
	tell_pipe("moved", path);

	check(rename("d", "other") != 0 || rename("old", "d") != 0);
	printf("linked: %zd\n", readlink(path, text, sizeof(text)));

	snprintf(path, sizeof(path), "%s/f", root);
	check((fd = open(path, O_RDONLY | O_CREAT, 0600)) < 0 || close(fd) != 0);
	check((fd = open(path, O_RDONLY)) < 0 || close(fd) != 0);
	check(unlink("f") != 0 || mkfifo("f", 0600) != 0);
	pid = fork();
	if (pid == 0) {
		usleep(20000);
		_exit(open(path, O_WRONLY) < 0);
	}
	fd = open(path, O_RDONLY);
	puts(fd >= 0 ? "fifo: opened" : "fifo: not opened");
	waitpid(pid, NULL, 0);
	return 0;
}
