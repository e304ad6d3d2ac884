/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /proc/self/fdinfo says of descriptors of many kinds, and where their links lead.
 *: varies
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

int main(void)
{
	sigset_t mask;
	int ends[2], fds[10], count = 0;

	sigemptyset(&mask);
	fds[count++] = pipe(ends) == 0 ? ends[0] : -1;
	fds[count++] = ends[1];
	fds[count++] = eventfd(3, 0);
	fds[count++] = timerfd_create(CLOCK_MONOTONIC, 0);
	fds[count++] = epoll_create1(0);
	fds[count++] = inotify_init1(0);
	fds[count++] = signalfd(-1, &mask, 0);
	fds[count++] = memfd_create("name", 0);
	fds[count++] = socket(AF_UNIX, SOCK_STREAM, 0);
	fds[count++] = open("/dev/null", O_WRONLY | O_APPEND);
	for (int i = 0; i < count; i++) {
		char path[64], text[512];
		FILE *f;
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[i]);
		n = readlink(path, text, sizeof(text) - 1);
		text[n > 0 ? n : 0] = '\0';
		printf("%d %s\n", fds[i], text);
		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fds[i]);
		f = fopen(path, "r");
		while (f && fgets(text, sizeof(text), f))
			printf("%s", text);
		if (f)
			fclose(f);
	}
	return 0;
}
