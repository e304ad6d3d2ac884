/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A large directory read, sought in, read by two processes through one descriptor, and emptied
 * while it is read. Says "wrong" and fails when a name is lost, repeated or out of order.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES = 2000, MIDDLE = 1000, SMALL = 64 };

static int failures;

static void expect(const char *what, int holds)
{
	printf("%s: %s\n", what, holds ? "right" : "wrong");
	failures += !holds;
}

static void make(void)
{
	char name[64];

	mkdir("many", 0755);
	for (int i = 0; i < FILES; i++) {
		/* Not in the order of the names. */
		snprintf(name, sizeof(name), "many/a-name-of-some-length-%d", i * 1009 % FILES);
		close(open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	}
}

static void read_and_seek(DIR *dir)
{
	char before[300] = "", middle[300] = "";
	struct dirent *entry;
	struct stat st;
	long at = 0;
	int count = 0, sorted = 1, same = 1;

	while ((entry = readdir(dir)) != NULL) {
		if (count > 2 && strcmp(before, entry->d_name) >= 0)
			sorted = 0;
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
			st.st_ino != entry->d_ino)
			same = 0;
		snprintf(before, sizeof(before), "%s", entry->d_name);
		if (count == MIDDLE)
			at = telldir(dir);
		if (count == MIDDLE + 1)
			snprintf(middle, sizeof(middle), "%s", entry->d_name);
		count++;
	}
	expect("all names", count == FILES + 2);
	expect("in order", sorted);
	expect("inodes as stat has them", same);
	seekdir(dir, at);
	entry = readdir(dir);
	expect("back to the middle", entry != NULL && strcmp(entry->d_name, middle) == 0);
	rewinddir(dir);
	for (count = 0; readdir(dir) != NULL;)
		count++;
	expect("all names again", count == FILES + 2);
}

/* Parent and child take turns on one descriptor: nothing comes twice, nothing is left out. */
static void share(void)
{
	int fd = open("many", O_RDONLY | O_DIRECTORY | O_CLOEXEC), status = 0, count = 0;
	char buffer[SMALL];

	for (int turn = 0; turn < 10; turn++) {
		fflush(stdout);
		if (turn % 2 == 0) {
			count += syscall(SYS_getdents64, fd, buffer, sizeof(buffer)) > 0;
			continue;
		}
		if (fork() == 0)
			_exit(syscall(SYS_getdents64, fd, buffer, sizeof(buffer)) > 0);
		wait(&status);
		count += WEXITSTATUS(status);
	}
	/* "." and ".." share the first answer; each of the others held one name. */
	expect("ten turns", count == 10 && lseek(fd, 0, SEEK_CUR) == 11);
	errno = 0;
	expect("too small a buffer",
		syscall(SYS_getdents64, fd, buffer, 8) == -1 && errno == EINVAL);
	close(fd);
}

static void empty(DIR *dir)
{
	struct dirent *entry;
	int count = 0;

	rewinddir(dir);
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			count += unlinkat(dirfd(dir), entry->d_name, 0) == 0;
	expect("emptied while read", count == FILES && rmdir("many") == 0);
	rewinddir(dir);
	expect("nothing in a removed directory", readdir(dir) == NULL);
}

int main(void)
{
	DIR *dir;

	make();
	dir = opendir("many");
	read_and_seek(dir);
	share();
	empty(dir);
	closedir(dir);
	return failures != 0;
}
