/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wait that counts its rounds and reads many words in each: that it is the same loop as at the
 * last look is found out wherever in its round it is looked at, so that it ends.
 *: unenforced impure_spin
 *: exit 121
 *: option --timeout
 *: option 240s
 *: long
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { WORDS = 12, APART = 8 };

static atomic_int flag;
static volatile unsigned long polls, words[WORDS * APART];

static void *set(void *unused)
{
	atomic_store(&flag, 1);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, set, NULL);
	while (!atomic_load(&flag)) {
		polls++;
		for (int i = 0; i < WORDS; i++)
			(void)words[i * APART];
	}
	puts("over");
	pthread_join(thread, NULL);
	return 0;
}
