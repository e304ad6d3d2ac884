/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wait that counts its rounds in memory is not without effect: where it gives way could be
 * seen, and the run is not enforced. It does not hang.
 *: unenforced impure_spin
 *: exit 121
 *: option --timeout
 *: option 240s
 *: long
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int flag;
static volatile unsigned long polls;

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
		polls++;
	puts("over");
	pthread_join(thread, NULL);
	return 0;
}
