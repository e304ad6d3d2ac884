/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More connections than a listener asked to queue: no connect waits for a resent segment, which the
 * kernel would send a second later, in the host's time.
 *: pinned
 *: rootless
 *: out ten connected, 0 s later
 *: out ten accepted
 *: out ten not blocking
 *: out ten accepted
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../guest.h"

enum { CONNECTIONS = 10 };

static void accept_all(int listener, int *fds)
{
	for (int i = 0; i < CONNECTIONS; i++) {
		char c = 0;
		int peer = MUST(accept(listener, NULL, NULL));

		if (MUST(write(fds[i], "x", 1)) != 1 || MUST(read(peer, &c, 1)) != 1 || c != 'x')
			printf("connection %d is another\n", i);
		close(peer);
		close(fds[i]);
	}
	puts("ten accepted");
}

int main(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	int listener = MUST(socket(AF_INET, SOCK_STREAM, 0)), fds[CONNECTIONS], at_once = 0;
	time_t start = time(NULL);

	MUST(bind(listener, (struct sockaddr *)&a, sizeof(a)));
	MUST(listen(listener, 1));
	MUST(getsockname(listener, (struct sockaddr *)&a, &len));
	for (int i = 0; i < CONNECTIONS; i++) {
		fds[i] = MUST(socket(AF_INET, SOCK_STREAM, 0));
		MUST(connect(fds[i], (struct sockaddr *)&a, len));
	}
	printf("ten connected, %ld s later\n", (long)(time(NULL) - start));
	accept_all(listener, fds);
	for (int i = 0; i < CONNECTIONS; i++) {
		fds[i] = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
		at_once += connect(fds[i], (struct sockaddr *)&a, len) == 0 || errno == EINPROGRESS;
	}
	printf("%s not blocking\n", at_once == CONNECTIONS ? "ten" : "fewer");
	accept_all(listener, fds);
	return 0;
}
