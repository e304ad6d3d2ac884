/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue that nobody reads overflows: one event says so, and what follows is told again.
 *: native
 *: long
 */
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../guest.h"

static _Alignas(struct inotify_event) char room[1 << 16];

int main(void)
{
	int in = MUST(inotify_init1(IN_NONBLOCK)), told = 0, lost = 0, fd, queued = 0;
	ssize_t n;

	MUST(mkdir("watched", 0755));
	MUST(inotify_add_watch(in, "watched", IN_OPEN | IN_CLOSE));
	for (int i = 0; i < 10000; i++) {
		fd = MUST(open("watched/a", O_CREAT | O_RDWR, 0644));
		close(fd);
	}
	MUST(ioctl(in, FIONREAD, &queued));
	printf("%d bytes\n", queued);
	while ((n = read(in, room, sizeof(room))) > 0)
		for (char *p = room; p < room + n;) {
			struct inotify_event *e = (struct inotify_event *)p;

			if (e->mask & IN_Q_OVERFLOW)
				printf("overflow after %d, wd %d\n", told, e->wd);
			lost += (e->mask & IN_Q_OVERFLOW) != 0;
			told++;
			p += sizeof(*e) + e->len;
		}
	printf("%d told, %d overflows\n", told, lost);
	fd = MUST(open("watched/a", O_RDWR));
	n = MUST(read(in, room, sizeof(room)));
	printf("%zd bytes, mask %x\n", n, ((struct inotify_event *)room)->mask);
	return 0;
}
