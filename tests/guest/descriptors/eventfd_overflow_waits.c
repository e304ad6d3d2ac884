/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A value that would overflow an eventfd waits until there is room for it.
 *: native
 */
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../guest.h"

static int fd;

static void *add(void *value)
{
	return eventfd_write(fd, *(eventfd_t *)value) ? value : NULL;
}

static void take(const char *name)
{
	eventfd_t value = 0;

	MUST(eventfd_read(fd, &value));
	printf("%s: %lx\n", name, (unsigned long)value);
}

static void join(pthread_t thread)
{
	void *failed;

	pthread_join(thread, &failed);
	printf("added: %s\n", failed ? "no" : "yes");
}

int main(void)
{
	eventfd_t most = UINT64_MAX - 1, half = (eventfd_t)1 << 63, one = 1, three = 3;
	struct pollfd p = {.events = POLLIN | POLLOUT};
	pthread_t a, b;

	p.fd = fd = MUST(eventfd(0, 0));
	MUST(eventfd_write(fd, most));
	MUST(poll(&p, 1, 0));
	printf("full: %x\n", p.revents);
	pthread_create(&a, NULL, add, &three);
	usleep(50000);
	take("most");
	join(a);
	take("three");
	MUST(eventfd_write(fd, 5));
	pthread_create(&a, NULL, add, &most);
	usleep(50000);
	take("five");
	join(a);
	take("most");
	MUST(eventfd_write(fd, half));
	pthread_create(&a, NULL, add, &half);
	usleep(50000);
	pthread_create(&b, NULL, add, &one);
	join(b);
	take("half and one");
	join(a);
	take("half");
	return 0;
}
