/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens in a directory is told in order, each once, with the names; the two halves of a
 * rename have one cookie. Nothing that the sandbox itself does is told.
 *: native
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "../guest.h"

static int in;

static void drain(const char *after)
{
	_Alignas(struct inotify_event) char room[8192];
	uint32_t cookie = 0;
	ssize_t n = read(in, room, sizeof(room));

	printf("%s:", after);
	for (char *p = room; p < room + n;) {
		struct inotify_event *e = (struct inotify_event *)p;

		printf(" [%d %x %s%s]", e->wd, e->mask, e->len ? e->name : "-",
			!e->cookie	      ? ""
			: e->cookie == cookie ? " the same"
					      : " a cookie");
		cookie = e->cookie;
		p += sizeof(*e) + e->len;
	}
	puts("");
}

int main(void)
{
	struct stat st;
	struct timeval times[2] = {{1000, 0}, {2000, 0}};
	char c[4];
	int fd;
	DIR *d;

	MUST(mkdir("watched", 0755));
	in = MUST(inotify_init1(IN_NONBLOCK));
	tell("watch", inotify_add_watch(in, "watched", IN_ALL_EVENTS));
	fd = MUST(open("watched/a", O_CREAT | O_RDWR, 0644));
	drain("created");
	MUST(write(fd, "abcd", 4));
	drain("written");
	MUST(pwrite(fd, "abcd", 4, 0));
	MUST(pread(fd, c, 4, 0));
	drain("and read");
	close(fd);
	drain("closed");
	MUST(stat("watched/a", &st));
	MUST(access("watched/a", R_OK));
	drain("looked at");
	MUST(chmod("watched/a", 0600));
	drain("mode");
	MUST(utimes("watched/a", times));
	drain("times");
	MUST(truncate("watched/a", 2));
	drain("truncated");
	MUST(link("watched/a", "watched/b"));
	drain("linked");
	MUST(rename("watched/b", "watched/c"));
	drain("renamed");
	MUST(rename("watched/c", "watched/d"));
	MUST(rename("watched/d", "outside"));
	drain("out of it");
	MUST(rename("outside", "watched/e"));
	drain("into it");
	MUST(mkdir("watched/dir", 0755));
	MUST(symlink("a", "watched/link"));
	drain("directory and link");
	fd = MUST(open("watched/link", O_RDONLY));
	close(fd);
	drain("through the link");
	d = opendir("watched");
	while (readdir(d))
		;
	closedir(d);
	drain("listed");
	MUST(rmdir("watched/dir"));
	MUST(unlink("watched/a"));
	MUST(unlink("watched/e"));
	MUST(unlink("watched/link"));
	drain("removed");
	MUST(rmdir("watched"));
	drain("gone");
	return 0;
}
