/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SO_PEERCRED: of socket pairs, of who listens and who connects; it stays that of then.
 *: native
 *: long
 */
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guest.h"

static void peer(const char *name, int s, pid_t expected)
{
	struct ucred who = {0};
	socklen_t len = sizeof(who);

	if (getsockopt(s, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
		tell(name, -1);
	else
		printf("%s: %s\n", name,
			who.pid == expected && who.uid == getuid() ? "as expected"
			: who.pid				   ? "another"
								   : "nobody");
}

int main(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "listener"};
	int listener = MUST(socket(AF_UNIX, SOCK_STREAM, 0)), s[2], status;
	pid_t parent = getpid(), child;
	char c;

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	peer("pair", s[0], parent);
	unlink(a.sun_path);
	MUST(bind(listener, (struct sockaddr *)&a, sizeof(a)));
	MUST(listen(listener, 5));
	fflush(stdout);
	child = MUST(fork());
	if (child == 0) {
		int t = MUST(socket(AF_UNIX, SOCK_STREAM, 0));

		peer("not connected", t, 0);
		MUST(connect(t, (struct sockaddr *)&a, sizeof(a)));
		peer("who listens", t, parent);
		peer("pair, inherited", s[1], parent);
		fflush(stdout);
		MUST(write(t, "x", 1));
		_exit(0);
	}
	s[0] = MUST(accept(listener, NULL, NULL));
	MUST(read(s[0], &c, 1));
	MUST(waitpid(child, &status, 0));
	peer("who connected", s[0], child);
	s[0] = MUST(socket(AF_INET, SOCK_STREAM, 0));
	peer("inet", s[0], 0);
	return 0;
}
