/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wait with a call that is never stopped (getuid): it is not held to be without effect, and
 * no hang.
 *: unenforced impure_spin
 *: exit 121
 *: option --timeout
 *: option 240s
 *: long
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int flag;

static void *set(void *unused)
{
	atomic_store(&flag, 1);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, set, NULL);
	while (!atomic_load(&flag))
		getuid();
	puts("over");
	pthread_join(thread, NULL);
	return 0;
}
