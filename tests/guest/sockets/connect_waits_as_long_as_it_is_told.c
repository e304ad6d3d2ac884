/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connect that waits for room in a listener's queue gives up after SO_SNDTIMEO, as natively; when
 * somebody has accepted there is room.
 *: native
 *: long
 *: out EINPROGRESS after 1 s
 *: out connected
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../guest.h"

enum { EACH = 900, CHILDREN = 16 };

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ll + ts.tv_nsec / 1000000;
}

/* Connects again and again until there is no room: then says so and keeps them. */
static void fill(const struct sockaddr_in *a, int tell_parent)
{
	const struct timeval limit = {1, 0};

	for (int i = 0; i < EACH; i++) {
		int s = MUST(socket(AF_INET, SOCK_STREAM, 0));
		int64_t start = now_ms();

		MUST(setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)));
		if (connect(s, (const struct sockaddr *)a, sizeof(*a)) == 0)
			continue;
		printf("%s after %d s\n", strerrorname_np(errno), (int)((now_ms() - start) / 900));
		fflush(stdout);
		MUST(write(tell_parent, "f", 1));
		pause();
	}
	MUST(write(tell_parent, "m", 1));
	pause();
}

int main(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	int listener = MUST(socket(AF_INET, SOCK_STREAM, 0)), ends[2], s = 0, started = 0;
	pid_t children[CHILDREN];
	char byte = 'm';

	MUST(bind(listener, (struct sockaddr *)&a, sizeof(a)));
	MUST(listen(listener, 1 << 20));
	MUST(getsockname(listener, (struct sockaddr *)&a, &len));
	MUST(pipe(ends));
	while (byte == 'm' && started < CHILDREN) {
		children[started] = MUST(fork());
		if (children[started++] == 0)
			fill(&a, ends[1]);
		MUST(read(ends[0], &byte, 1));
	}
	for (int i = 0; i < 3; i++)
		close(MUST(accept(listener, NULL, NULL)));
	s = MUST(socket(AF_INET, SOCK_STREAM, 0));
	MUST(connect(s, (struct sockaddr *)&a, len));
	puts("connected");
	for (int i = 0; i < started; i++)
		kill(children[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	return 0;
}
