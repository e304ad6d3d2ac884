/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wait that counts its rounds in a register and prints them: no state of it recurs, and where it
 * gives way is seen. It does not hang, and the run is not enforced.
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

static void *set(void *unused)
{
	atomic_store(&flag, 1);
	return unused;
}

int main(void)
{
	register unsigned long polls __asm__("rbx") = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, set, NULL);
	while (!atomic_load(&flag)) {
		polls++;
		__asm__ volatile("pause" : "+r"(polls));
	}
	puts(polls ? "over" : "it did not wait");
	pthread_join(thread, NULL);
	return 0;
}
