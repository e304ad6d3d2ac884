/* SPDX-License-Identifier: Apache-2.0 */
/* Makes files and prints all that stat tells, in directory order, with offsets and a seek back. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void print_stat(const char *path)
{
	struct stat st;
	struct statx stx;

	if (lstat(path, &st))
		return;
	printf("%s inode %lu device %lu links %lu size %ld blocks %ld x %ld\n", path, st.st_ino,
		st.st_dev, (unsigned long)st.st_nlink, st.st_size, st.st_blocks,
		(long)st.st_blksize);
	printf("  a %ld.%09ld m %ld.%09ld c %ld.%09ld\n", st.st_atim.tv_sec, st.st_atim.tv_nsec,
		st.st_mtim.tv_sec, st.st_mtim.tv_nsec, st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &stx) == 0)
		printf("  statx inode %s, m %lld.%09u, birth %lld\n",
			stx.stx_ino == st.st_ino ? "same" : "differs",
			(long long)stx.stx_mtime.tv_sec, stx.stx_mtime.tv_nsec,
			stx.stx_mask & STATX_BTIME ? (long long)stx.stx_btime.tv_sec : -1LL);
}

static void make(const char *name, size_t len)
{
	char data[3000];
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	memset(data, 'x', sizeof(data));
	if (write(fd, data, len) != (ssize_t)len)
		perror(name);
	close(fd);
}

static void list(void)
{
	DIR *dir = opendir("d");
	struct dirent *entry;
	long third = 0;
	int count = 0;

	while ((entry = readdir(dir))) {
		printf("entry %s type %d offset %ld\n", entry->d_name, entry->d_type, entry->d_off);
		struct stat st;
		char path[300];

		snprintf(path, sizeof(path), "d/%s", entry->d_name);
		if (strcmp(entry->d_name, "..") != 0 && lstat(path, &st) == 0 &&
			st.st_ino != entry->d_ino)
			printf("  inode differs from stat's\n");
		if (++count == 3)
			third = telldir(dir);
	}
	seekdir(dir, third);
	entry = readdir(dir);
	printf("after the third: %s\n", entry ? entry->d_name : "(end)");
	rewinddir(dir);
	entry = readdir(dir);
	printf("rewound: %s\n", entry ? entry->d_name : "(end)");
	closedir(dir);
}

int main(void)
{
	static const char *const names[] = {
		"d/zeta", "d/alpha", "d/Mid", "d/10", "d/9", "d/.hidden", "d/ä"};

	mkdir("d", 0755);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		make(names[i], i * 417);
	sleep(1);
	make("d/late", 1);
	if (link("d/alpha", "d/hard") || symlink("alpha", "d/soft") || rename("d/9", "d/nine"))
		perror("files");
	list();
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		print_stat(names[i]);
	print_stat("d/nine");
	print_stat("d/late");
	print_stat("d/hard");
	print_stat("d/soft");
	print_stat("d");
	sleep(1);
	chmod("d/zeta", 0600);
	make("d/alpha", 5);
	print_stat("d/zeta");
	print_stat("d/alpha");
	return 0;
}
