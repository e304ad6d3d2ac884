/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sandbox does to files as time goes by - it gives them logical times, it looks for their
 * writers - is not told to a watcher.
 *: native
 */
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../guest.h"

static int in;

static void drain(const char *after)
{
	_Alignas(struct inotify_event) char room[8192];
	ssize_t n = read(in, room, sizeof(room));

	printf("%s:", after);
	for (char *p = room; p < room + n;) {
		const struct inotify_event *e = (const struct inotify_event *)p;

		printf(" [%x %s]", e->mask, e->len ? e->name : "-");
		p += sizeof(*e) + e->len;
	}
	puts("");
}

int main(void)
{
	struct stat st;
	int fd, other;

	MUST(mkdir("watched", 0755));
	in = MUST(inotify_init1(IN_NONBLOCK));
	MUST(inotify_add_watch(in, "watched", IN_ALL_EVENTS));
	fd = MUST(open("watched/a", O_CREAT | O_RDWR, 0644));
	other = MUST(open("watched/b", O_CREAT | O_WRONLY, 0644));
	MUST(write(fd, "abcd", 4));
	usleep(50000);
	drain("written");
	for (int i = 0; i < 3; i++) {
		usleep(50000);
		MUST(write(fd, "abcd", 4));
		MUST(fstat(fd, &st));
	}
	usleep(50000);
	drain("three times more");
	close(fd);
	usleep(50000);
	MUST(write(other, "x", 1));
	close(other);
	usleep(50000);
	drain("closed");
	MUST(mkdir("watched/d", 0755));
	MUST(rename("watched/a", "watched/d/a"));
	usleep(50000);
	drain("moved");
	MUST(unlink("watched/b"));
	usleep(50000);
	drain("removed");
	return 0;
}
