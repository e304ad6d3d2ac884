/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A blocked read of inotify, and a poll, end when something happens; a room too small is refused.
 *: native
 *: long
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../guest.h"

static void *make(void *unused)
{
	usleep(50000);
	close(MUST(open("watched/first", O_CREAT | O_WRONLY, 0644)));
	usleep(50000);
	close(MUST(open("watched/second", O_CREAT | O_WRONLY, 0644)));
	return unused;
}

int main(void)
{
	_Alignas(struct inotify_event) char room[4096];
	const struct inotify_event *e = (const struct inotify_event *)room;
	int in = MUST(inotify_init1(0));
	struct pollfd p = {.fd = in, .events = POLLIN};
	pthread_t thread;

	MUST(mkdir("watched", 0755));
	MUST(inotify_add_watch(in, "watched", IN_CREATE));
	pthread_create(&thread, NULL, make, NULL);
	tell("read", read(in, room, sizeof(room)));
	printf("%s %x\n", e->name, e->mask);
	tell("poll", poll(&p, 1, -1));
	tell("too small", read(in, room, 20));
	tell("read", read(in, room, sizeof(room)));
	printf("%s %x\n", e->name, e->mask);
	pthread_join(thread, NULL);
	tell("no such watch", inotify_rm_watch(in, 99));
	tell("removed", inotify_rm_watch(in, 1));
	tell("read", read(in, room, sizeof(room)));
	printf("ignored %x\n", e->mask);
	return 0;
}
