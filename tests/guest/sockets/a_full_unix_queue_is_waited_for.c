/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect to a unix listener whose queue is full waits, or fails at once when it may not.
 *: native
 *: long
 */
#include <pthread.h>
#include <sys/un.h>

#include "../tcp.h"

static struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "listener"};
static int done;

static void *enter(void *unused)
{
	int s = MUST(socket(AF_UNIX, SOCK_STREAM, 0));

	MUST(connect(s, (struct sockaddr *)&a, sizeof(a)));
	__atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
	return unused;
}

int main(void)
{
	int listener = MUST(socket(AF_UNIX, SOCK_STREAM, 0)), s;
	pthread_t threads[6];

	unlink(a.sun_path);
	MUST(bind(listener, (struct sockaddr *)&a, sizeof(a)));
	s = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
	tell("not yet listening", connect(s, (struct sockaddr *)&a, sizeof(a)));
	MUST(listen(listener, 2));
	for (int i = 0; i < 6; i++)
		pthread_create(&threads[i], NULL, enter, NULL);
	usleep(100000);
	printf("%d are in\n", __atomic_load_n(&done, __ATOMIC_SEQ_CST));
	s = MUST(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
	tell("not waiting", connect(s, (struct sockaddr *)&a, sizeof(a)));
	for (int i = 0; i < 2; i++)
		MUST(accept(listener, NULL, NULL));
	usleep(100000);
	printf("%d are in\n", __atomic_load_n(&done, __ATOMIC_SEQ_CST));
	for (int i = 0; i < 4; i++)
		MUST(accept(listener, NULL, NULL));
	for (int i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	printf("%d are in\n", done);
	return 0;
}
