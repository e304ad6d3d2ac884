/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipes with O_NONBLOCK: short writes, whole ones up to PIPE_BUF or none, another size, packets.
 *: native
 *: long
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../guest.h"

int main(void)
{
	static char room[200000];
	int p[2], queued = 0;

	signal(SIGPIPE, SIG_IGN);
	MUST(pipe2(p, O_NONBLOCK));
	tell("empty", read(p[0], room, 10));
	tell("more than fits", write(p[1], room, sizeof(room)));
	tell("full", write(p[1], room, 1));
	MUST(ioctl(p[0], FIONREAD, &queued));
	printf("%d queued\n", queued);
	tell("some", read(p[0], room, 4000));
	tell("not yet a page", write(p[1], room, 10));
	tell("the rest of it", read(p[0], room, 96));
	tell("a page", write(p[1], room, 4096));
	tell("none left", write(p[1], room, 4096));
	tell("size", fcntl(p[1], F_GETPIPE_SZ));
	tell("larger", fcntl(p[1], F_SETPIPE_SZ, 200000));
	tell("size", fcntl(p[1], F_GETPIPE_SZ));
	tell("more", write(p[1], room, sizeof(room)));
	tell("smaller than what is in it", fcntl(p[1], F_SETPIPE_SZ, 4096));
	close(p[0]);
	tell("nobody reads", write(p[1], room, 1));
	MUST(pipe2(p, O_NONBLOCK | O_DIRECT));
	tell("packet", write(p[1], "one", 3));
	tell("packet", write(p[1], "three", 5));
	tell("its start alone", read(p[0], room, 2));
	tell("the next", read(p[0], room, 100));
	close(p[1]);
	tell("end", read(p[0], room, 100));
	return 0;
}
