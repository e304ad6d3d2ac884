/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several tasks wait for one pipe, listener, eventfd: what comes is taken by one of them, the
 * others go on waiting.
 *: native
 */
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../guest.h"

enum { TASKS = 4, ROUNDS = 50 };

static int p[2], listener, event, taken;

static void *take(void *unused)
{
	char c = 0;

	while (MUST(read(p[0], &c, 1)) == 1)
		__atomic_add_fetch(&taken, 1, __ATOMIC_SEQ_CST);
	return unused;
}

static void *greet(void *unused)
{
	for (;;) {
		int s = accept(listener, NULL, NULL);
		char c = 0;

		if (s < 0)
			return unused; /* shut down */
		MUST(read(s, &c, 1));
		__atomic_add_fetch(&taken, 1, __ATOMIC_SEQ_CST);
		MUST(write(s, &c, 1));
		close(s);
	}
}

static void *count(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		eventfd_t value = 0;

		MUST(eventfd_read(event, &value));
		__atomic_add_fetch(&taken, 1, __ATOMIC_SEQ_CST);
	}
	return unused;
}

static void start(pthread_t *threads, void *(*what)(void *))
{
	taken = 0;
	for (int i = 0; i < TASKS; i++)
		pthread_create(&threads[i], NULL, what, NULL);
	usleep(50000);
}

static void join(const char *name, const pthread_t *threads)
{
	for (int i = 0; i < TASKS; i++)
		pthread_join(threads[i], NULL);
	printf("%s: %d\n", name, taken);
}

int main(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "listener"};
	pthread_t threads[TASKS];
	char c = 'x';

	MUST(pipe(p));
	start(threads, take);
	for (int i = 0; i < ROUNDS; i++) {
		MUST(write(p[1], "abc", 3));
		if (i % 8 == 0)
			usleep(1000);
	}
	close(p[1]);
	join("pipe", threads);
	unlink(a.sun_path);
	listener = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
	MUST(bind(listener, (struct sockaddr *)&a, sizeof(a)));
	MUST(listen(listener, 10));
	start(threads, greet);
	for (int i = 0; i < ROUNDS; i++) {
		int s = MUST(socket(AF_UNIX, SOCK_STREAM, 0));

		MUST(connect(s, (struct sockaddr *)&a, sizeof(a)));
		MUST(write(s, &c, 1));
		MUST(read(s, &c, 1));
		close(s);
	}
	MUST(shutdown(listener, SHUT_RD));
	join("listener", threads);
	event = MUST(eventfd(0, EFD_SEMAPHORE));
	start(threads, count);
	for (int i = 0; i < TASKS * ROUNDS / 2; i++) {
		MUST(eventfd_write(event, 2));
		if (i % 8 == 0)
			usleep(1000);
	}
	join("eventfd", threads);
	return 0;
}
