/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept and accept4: flags, the peer's address, a connection that was closed before it was
 * accepted.
 *: native
 */
#include <fcntl.h>

#include "../tcp.h"

int main(void)
{
	struct sockaddr_in a, peer, own;
	socklen_t len = sizeof(peer);
	int listener = bound(SOCK_STREAM, &a), s, t;
	char c = 0;

	tell("not listening", accept(listener, NULL, NULL));
	MUST(listen(listener, 5));
	s = connected_to(&a);
	t = MUST(accept4(listener, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC));
	printf("%s, %s\n", fcntl(t, F_GETFL) & O_NONBLOCK ? "not blocking" : "blocking",
		fcntl(t, F_GETFD) ? "close on exec" : "kept");
	len = sizeof(own);
	MUST(getsockname(s, (struct sockaddr *)&own, &len));
	printf("the same port: %d, %s\n", own.sin_port == peer.sin_port, inet_ntoa(peer.sin_addr));
	tell("read", read(t, &c, 1));
	close(s);
	tell("end", read(t, &c, 1));
	MUST(fcntl(listener, F_SETFL, O_NONBLOCK));
	tell("nobody", accept(listener, NULL, NULL));
	s = connected_to(&a);
	t = MUST(accept(listener, NULL, NULL));
	printf("%s\n", fcntl(t, F_GETFL) & O_NONBLOCK ? "not blocking" : "blocking");
	s = connected_to(&a);
	MUST(write(s, "x", 1));
	close(s);
	t = MUST(accept(listener, NULL, NULL));
	tell("of one who left", read(t, &c, 1));
	tell("end", read(t, &c, 1));
	tell("an odd flag", accept4(listener, NULL, NULL, 1));
	tell("no listener", accept(t, NULL, NULL));
	tell("a datagram socket", accept(MUST(socket(AF_INET, SOCK_DGRAM, 0)), NULL, NULL));
	tell("no socket", accept(MUST(open("/dev/null", O_RDWR)), NULL, NULL));
	return 0;
}
