/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EFD_SEMAPHORE: each read takes one; readers that wait are let through as often as was posted.
 *: native
 *: long
 */
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../guest.h"

static int fd, passed;

static void *pass(void *unused)
{
	eventfd_t value = 0;

	MUST(eventfd_read(fd, &value));
	if (value == 1)
		__atomic_add_fetch(&passed, 1, __ATOMIC_SEQ_CST);
	return unused;
}

int main(void)
{
	pthread_t threads[5];
	eventfd_t value;

	fd = MUST(eventfd(2, EFD_SEMAPHORE));
	for (int i = 0; i < 5; i++)
		pthread_create(&threads[i], NULL, pass, NULL);
	usleep(50000);
	printf("%d passed\n", __atomic_load_n(&passed, __ATOMIC_SEQ_CST));
	MUST(eventfd_write(fd, 2));
	usleep(50000);
	printf("%d passed\n", __atomic_load_n(&passed, __ATOMIC_SEQ_CST));
	MUST(eventfd_write(fd, 5));
	for (int i = 0; i < 5; i++)
		pthread_join(threads[i], NULL);
	printf("%d passed\n", passed);
	for (int i = 0; i < 4; i++)
		MUST(eventfd_read(fd, &value));
	fd = MUST(eventfd(7, EFD_NONBLOCK));
	MUST(eventfd_read(fd, &value));
	printf("all at once: %lu\n", (unsigned long)value);
	tell("empty", read(fd, &value, sizeof(value)));
	tell("too short", read(fd, &value, 4));
	value = UINT64_MAX;
	tell("not a value", write(fd, &value, sizeof(value)));
	return 0;
}
