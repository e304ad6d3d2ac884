/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Autobind: abstract names that the kernel draws at random; the same in every run here.
 *: varies
 *: long
 */
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../guest.h"

int main(void)
{
	for (int i = 0; i < 6; i++) {
		struct sockaddr_un a = {.sun_family = AF_UNIX};
		socklen_t len = sizeof(sa_family_t);
		int s = MUST(socket(AF_UNIX, i % 2 ? SOCK_DGRAM : SOCK_STREAM, 0));

		MUST(bind(s, (struct sockaddr *)&a, len));
		len = sizeof(a);
		MUST(getsockname(s, (struct sockaddr *)&a, &len));
		printf("%u bytes, @%.*s\n", len,
			(int)(len - offsetof(struct sockaddr_un, sun_path) - 1), a.sun_path + 1);
		if (i == 3)
			close(s);
	}
	return 0;
}
