/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGEV_THREAD, which the C library makes of a helper thread: the function runs with its value.
 *
 *: native
 */
#include <pthread.h>
#include <semaphore.h>

#include "say.h"

static sem_t ran;
static int value;
static pthread_t main_thread;

static void run(union sigval given)
{
	value = given.sival_int;
	if (pthread_equal(pthread_self(), main_thread))
		puts("in the main thread");
	sem_post(&ran);
}

int main(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = run};
	struct itimerspec every = ispec(4 * MS, 4 * MS);
	timer_t timers[2];

	main_thread = pthread_self();
	sem_init(&ran, 0, 0);
	for (int i = 0; i < 2; i++) {
		event.sigev_value.sival_int = 10 + i;
		say("create", timer_create(CLOCK_REALTIME, &event, &timers[i]));
	}
	timer_settime(timers[0], 0, &every, NULL);
	for (int i = 0; i < 3; i++) {
		while (sem_wait(&ran))
			;
		printf("ran with %d\n", value);
	}
	say("delete", timer_delete(timers[0]));
	every = ispec(MS, 0);
	timer_settime(timers[1], 0, &every, NULL);
	do
		while (sem_wait(&ran))
			;
	while (value != 11);
	printf("ran with %d\n", value);
	return 0;
}
