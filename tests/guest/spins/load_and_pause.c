/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread waits for another with an atomic load and a pause: it gives way, and no time passes
 * for it.
 *: native
 *: out 42
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int flag;
static int value;

static void *set(void *unused)
{
	value = 42;
	atomic_store(&flag, 1);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, set, NULL);
	while (!atomic_load(&flag))
		__builtin_ia32_pause();
	printf("%d\n", value);
	pthread_join(thread, NULL);
	return 0;
}
