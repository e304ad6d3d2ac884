/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arm64: a lock as it is taken before there were single instructions for it. The waiter's loop is
 * an exclusive load without a store, which waits; the pair itself, where it succeeds, is computing.
 * Prints "2 after 1, 4000".
 */
#include <pthread.h>
#include <stdio.h>

static volatile unsigned lock = 1, first;
static unsigned long sum;

static void take(void)
{
	unsigned seen, failed;

	__asm__ volatile("1: ldaxr %w0, [%2]\n"
			 "   cbnz %w0, 1b\n"
			 "   stxr %w1, %w3, [%2]\n"
			 "   cbnz %w1, 1b\n"
			 : "=&r"(seen), "=&r"(failed)
			 : "r"(&lock), "r"(1)
			 : "memory");
}

static void leave(void)
{
	__asm__ volatile("stlr %w1, [%0]" : : "r"(&lock), "r"(0) : "memory");
}

static void *other(void *unused)
{
	first = 1;
	leave(); /* what main waits for */
	for (int i = 0; i < 2000; i++) {
		take();
		sum++;
		leave();
	}
	return unused;
}

int main(void)
{
	pthread_t thread;
	unsigned before = first;

	pthread_create(&thread, NULL, other, NULL);
	take();
	printf("%u after %u, ", before + 2, first);
	sum++;
	leave();
	for (int i = 0; i < 1999; i++) {
		take();
		sum++;
		leave();
	}
	pthread_join(thread, NULL);
	printf("%lu\n", sum);
	return 0;
}
