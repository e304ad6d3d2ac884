/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right: two threads have SIGTRAP blocked, and that stays so, however they are stepped.
 *: option --sched-seed
 *: option 2
 *: long
 *: out kept
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int lost;

static void *work(void *arg)
{
	for (int i = 0; i < 20; i++) {
		sigset_t now;

		sched_yield();
		pthread_sigmask(SIG_BLOCK, NULL, &now);
		if (!sigismember(&now, SIGTRAP))
			lost++;
	}
	return arg;
}

int main(void)
{
	pthread_t threads[2];
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	puts(lost ? "lost" : "kept");
	return lost != 0;
}
