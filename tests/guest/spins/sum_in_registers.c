/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sum of one word over and over, whose counter and result are in registers, beside a thread that
 * could run: it looks much like a wait that counts, and is left alone for long.
 *: pinned
 *: long
 *: once
 *: out sum 36000000000, then the other
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static volatile long word = 3;
static atomic_int done;

static void *other(void *unused)
{
	puts(atomic_load(&done) ? ", then the other" : "the other came before");
	return unused;
}

int main(void)
{
	register long i __asm__("rbx"), sum __asm__("r12") = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, other, NULL);
	for (i = 12000000000; i; i--) {
		sum += word;
		__asm__ volatile("" : "+r"(i), "+r"(sum));
	}
	printf("sum %ld", sum);
	fflush(stdout);
	atomic_store(&done, 1);
	pthread_join(thread, NULL);
	return 0;
}
