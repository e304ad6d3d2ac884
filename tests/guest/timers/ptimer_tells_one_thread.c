/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGEV_THREAD_ID: the signal comes to the thread that was named, though all could take it.
 *
 *: long
 *: native
 */
#include <pthread.h>
#include <sys/syscall.h>

#include "say.h"

static volatile sig_atomic_t hits[3];
static __thread int self;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	hits[self] = hits[self] + 1;
}

static void *run(void *number)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 1};
	struct itimerspec every = ispec(3 * MS, 3 * MS);
	timer_t timer;

	self = (int)(intptr_t)number;
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		return NULL;
	timer_settime(timer, 0, &every, NULL);
	while (hits[self] < 4)
		pause();
	timer_delete(timer);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	handle(SIGRTMIN + 1, on_signal, 0);
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, (void *)(i + 1));
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("main %d\n", (int)hits[0]);
	printf("each %s\n", hits[1] >= 4 && hits[2] >= 4 ? "has its own" : "lost some");
	return 0;
}
